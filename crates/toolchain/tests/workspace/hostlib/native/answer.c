static int kept; int answer(void) { kept += 42; return kept; }

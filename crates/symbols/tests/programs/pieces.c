// Static variables that an optimiser takes apart into one of each element, since nobody asks for their addresses.
static int places[6] = {1, 2, 3, 4, 5, 6};
static struct {
    char kind;
    long count;
} pair = {'a', 7};

// Other files may call them at any time.
int look(void) {
    return places[0] + places[1] + places[2] + places[3] + places[4] + places[5] + pair.kind + (int)pair.count;
}

void turn(int by) {
    places[0] += by;
    places[1] += places[0];
    places[2] += places[1];
    places[3] += places[2];
    places[4] += places[3];
    places[5] += places[4];
    pair.kind += 1;
    pair.count += by;
}

int main(int argc, char **argv) {
    (void)argv;
    turn(argc);
    return look() == 0;
}

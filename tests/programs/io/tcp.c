//@ expect: pass
//@ runs: 100
// A TCP server on loopback that two clients call.
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in address;

static void *serve(void *arg) {
    int listener = (int)(long)arg;
    for (int i = 0; i < 2; i++) {
        char letter;
        int peer = accept(listener, 0, 0);
        assert(peer >= 0);
        assert(read(peer, &letter, 1) == 1);
        letter++;
        assert(write(peer, &letter, 1) == 1);
        close(peer);
    }
    return 0;
}

static void *call(void *arg) {
    char letter = (char)(long)arg;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    assert(write(fd, &letter, 1) == 1);
    assert(read(fd, &letter, 1) == 1 && letter == (char)(long)arg + 1);
    assert(read(fd, &letter, 1) == 0);
    close(fd);
    return 0;
}

int main(void) {
    pthread_t server, a, b;
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert(bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    assert(listen(listener, 5) == 0);
    assert(getsockname(listener, (struct sockaddr *)&address, &length) == 0);
    pthread_create(&server, 0, serve, (void *)(long)listener);
    pthread_create(&a, 0, call, (void *)'a');
    pthread_create(&b, 0, call, (void *)'k');
    pthread_join(server, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    close(listener);
    return 0;
}

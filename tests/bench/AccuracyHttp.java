// SPDX-License-Identifier: MIT
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.concurrent.Executors;

/** An HTTP server for accuracy_servers.py: each request sorts and prints some numbers. */
public class AccuracyHttp {
    private static byte[] answer() {
        int[] numbers = new int[200];
        for (int i = 0; i < numbers.length; i++)
            numbers[i] = (i * 7919) % 1009;
        Arrays.sort(numbers);
        return Arrays.toString(numbers).getBytes();
    }

    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(
            new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 64);
        server.createContext("/", exchange -> {
            byte[] body = answer();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.start();
    }
}

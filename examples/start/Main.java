import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

public class Main {
  public static void main(String[] args) throws Exception {
    var entry = "{\"level\":\"info\",\"message\":\"Hello from Java\",\"cart\":3}";
    var request = HttpRequest.newBuilder(URI.create(System.getenv("TAFFRAIL_URL") + "/ingest"))
        .header("Authorization", "Bearer " + System.getenv("TAFFRAIL_API_KEY"))
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(entry))
        .build();
    var response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    System.out.println(response.statusCode() + " " + response.body());
  }
}

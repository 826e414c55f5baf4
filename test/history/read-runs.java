/** Decodes records of the topic runs with Apache Avro alone: the writer's schema is the one that the registry has for the id in the record. */
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.DecoderFactory;

class ReadRuns {
  /** Arguments: URL of the registry, then the value of each record in hexadecimal. Prints a line of JSON for each. */
  public static void main(String[] arguments) throws Exception {
    HttpClient http = HttpClient.newHttpClient();
    for (int at = 1; at < arguments.length; at++) {
      ByteBuffer value = ByteBuffer.wrap(HexFormat.of().parseHex(arguments[at]));
      if (value.get() != 0) throw new IllegalStateException("A record does not begin as the registry's format does.");
      URI place = URI.create(arguments[0] + "/schemas/ids/" + value.getInt());
      String answer = http.send(HttpRequest.newBuilder(place).build(), HttpResponse.BodyHandlers.ofString()).body();
      Schema schema = new Schema.Parser().parse(new ObjectMapper().readTree(answer).get("schema").asText());
      byte[] bytes = new byte[value.remaining()];
      value.get(bytes);
      GenericDatumReader<GenericRecord> reader = new GenericDatumReader<>(schema);
      System.out.println(reader.read(null, DecoderFactory.get().binaryDecoder(bytes, null)));
    }
  }
}

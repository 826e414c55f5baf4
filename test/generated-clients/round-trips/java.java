// What generated-clients.test.ts has the Java client do.
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonParser;
import java.io.File;
import java.nio.file.Files;
import java.util.*;
import java.util.stream.Collectors;
import org.openapitools.client.*;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

class RoundTrip {
  interface Call {
    void make() throws ApiException;
  }

  static String problemOf(Call call) throws Exception {
    try {
      call.make();
      return "no problem";
    } catch (ApiException error) {
      Problem problem = Problem.fromJson(error.getResponseBody());
      return problem.getStatus() + " " + problem.getCode() + " " + problem.getRetriable();
    }
  }

  static ApiClient clientOf(String base) {
    return new ApiClient().setBasePath(base);
  }

  public static void main(String[] args) throws Exception {
    String base = args[0], token = args[1], id = args[2], tag = id.split("/")[0];
    ApiClient client = clientOf(base);
    client.setBearerToken(token);
    JobsApi jobs = new JobsApi(client);
    RunsApi runs = new RunsApi(client);
    SystemApi system = new SystemApi(client);
    Gson gson = JSON.getGson();

    long at = 4_102_444_800_000L;
    JobDefinition definition = new JobDefinition()
        .schedule(new Schedule().at(new Instant(at)))
        .startAt(new Instant("2030-01-31T08:00:00+01:00"))
        .target(new Target().handler("echo"))
        .putHeadersItem("plain", new TextOrBytes("text"))
        .putHeadersItem("bytes", new TextOrBytes(new Bytes().base64("AP8=")))
        .payload(Map.of("n", 1))
        .tags(List.of(tag))
        .priority(new Priority(7))
        .retry(new Retry().backoff(new Backoff().fixed(new FixedBackoff().delayMs(1_500))));
    Written made = jobs.putJob(id, definition, "applied", null, null, null);
    Job job = jobs.getJob(id, null);
    JobDefinition read = job.getDefinition();
    JobPage listed = jobs.listJobs(null, tag, null, null, null, null, null, 10, null, null);
    jobs.putJob(id + "/word", definition.priority(new Priority("LOW")), "applied", null, null, null);
    JobDefinition word = jobs.getJob(id + "/word", null).getDefinition();
    definition.priority(new Priority(7));
    RunCommandResult triggered = jobs.triggerJob(id, null, null, "once", new TriggerRequest().payload(Map.of("n", 2)));
    RunDetail run = runs.getRun(id, 1L, null, null);
    while (run.getFinishedAt() == null) {
      Thread.sleep(50);
      run = runs.getRun(id, 1L, null, null);
    }
    Schedule daily = new Schedule().everyMs(86_400_000L).anchor(new Instant(at));
    Preview preview = new SchedulesApi(client).previewSchedule(new PreviewRequest().schedule(daily).from(new Instant(at)).count(1));
    Plan plan = jobs.planJobs(new PlanRequest().addJobsItem(definition.id(id)));
    File file = File.createTempFile("duelog-lines-", null);
    file.deleteOnExit();
    Files.writeString(file.toPath(), definition.id(id + "/line").toJson() + "\n");
    File answer = jobs.writeJobs(file, null);
    answer.deleteOnExit();
    String lines = Files.readString(answer.toPath());

    Map<String, Object> facts = new HashMap<>();
    facts.put("applied", made.getApplied());
    facts.put("status", job.getStatus().getValue());
    facts.put("at", read.getSchedule().getAt().getActualInstance());
    facts.put("startAt", read.getStartAt().getString());
    facts.put("headers", gson.toJsonTree(read.getHeaders()));
    facts.put("payload", read.getPayload());
    facts.put("backoffMs", read.getRetry().getBackoff().getFixed().getDelayMs());
    facts.put("priorities", List.of(read.getPriority().getActualInstance(), word.getPriority().getActualInstance()));
    facts.put("lastRun", job.getLastRun());
    facts.put("listed", listed.getJobs().stream().map(Job::getId).collect(Collectors.joining(",")));
    facts.put("runId", triggered.getRunId());
    facts.put("run", run.getStatus().getValue());
    facts.put("result", run.getResult());
    facts.put("preview", preview.getFires().get(0).getAtMs());
    facts.put("plan", plan.getJobs().get(0).getAction().getValue());
    facts.put("line", JsonParser.parseString(lines).getAsJsonObject().get("ok").getAsBoolean());
    facts.put("partitions", system.listPartitions().getPartitions().stream().map(one -> one.getPhase().getValue()).collect(Collectors.joining(",")));
    facts.put("workers", system.listWorkers().getWorkers().size());
    facts.put("explained", jobs.explainJob(id, null).getStatus());
    facts.put("missing", problemOf(() -> jobs.getJob("nowhere", null)));
    facts.put("refused", problemOf(() -> jobs.putJob(id, new JobDefinition().schedule(new Schedule()).target(new Target().handler("echo")), null, null, null, null)));
    facts.put("stranger", problemOf(() -> new JobsApi(clientOf(base)).getJob(id, null)));
    System.out.println(new GsonBuilder().serializeNulls().disableHtmlEscaping().create().toJson(facts));
    // Its pool of connections would keep the process for minutes.
    System.exit(0);
  }
}

// What generated-clients.test.ts has the Go client do.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	duelog "example.org/duelog/client"
)

func must[T any](value T, _ any, err error) T {
	if err != nil {
		var told *duelog.GenericOpenAPIError
		if errors.As(err, &told) {
			panic(fmt.Sprintf("%v: %s", err, told.Body()))
		}
		panic(err)
	}
	return value
}

func problemOf[T any](_ T, _ any, err error) string {
	var told *duelog.GenericOpenAPIError
	if !errors.As(err, &told) {
		return fmt.Sprintf("no problem: %v", err)
	}
	problem, isProblem := told.Model().(duelog.Problem)
	if !isProblem {
		return "no model"
	}
	return fmt.Sprintf("%d %s %t", problem.Status, problem.Code, problem.Retriable)
}

func text(value any) string {
	bytes, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(bytes)
}

func clientOf(base string) *duelog.APIClient {
	configuration := duelog.NewConfiguration()
	configuration.Servers = duelog.ServerConfigurations{{URL: base}}
	return duelog.NewAPIClient(configuration)
}

func main() {
	base, token, id := os.Args[1], os.Args[2], os.Args[3]
	client := clientOf(base)
	known := context.WithValue(context.Background(), duelog.ContextAccessToken, token)
	tag := strings.Split(id, "/")[0]

	at := int64(4_102_444_800_000)
	start := "2030-01-31T08:00:00+01:00"
	plain := "text"
	schedule := duelog.NewSchedule()
	schedule.SetAt(duelog.Int64AsInstant(&at))
	target := duelog.NewTarget()
	target.SetHandler("echo")
	definition := duelog.NewJobDefinition(*schedule, *target)
	definition.SetStartAt(duelog.StringAsInstant(&start))
	definition.SetHeaders(map[string]duelog.TextOrBytes{
		"plain": duelog.StringAsTextOrBytes(&plain),
		"bytes": duelog.BytesAsTextOrBytes(duelog.NewBytes("AP8=")),
	})
	definition.SetPayload(map[string]any{"n": 1})
	definition.SetTags([]string{tag})
	seven, low := int32(7), "LOW"
	definition.SetPriority(duelog.Int32AsPriority(&seven))
	backoff := duelog.NewBackoff()
	backoff.SetFixed(*duelog.NewFixedBackoff(1_500))
	retry := duelog.NewRetry()
	retry.SetBackoff(*backoff)
	definition.SetRetry(*retry)

	made := must(client.JobsAPI.PutJob(known, id).JobDefinition(*definition).Wait("applied").Execute())
	job := must(client.JobsAPI.GetJob(known, id).Execute())
	read := job.Definition.Get()
	listed := must(client.JobsAPI.ListJobs(known).Tag(tag).Limit(10).Execute())
	word := *definition
	word.SetPriority(duelog.StringAsPriority(&low))
	must(client.JobsAPI.PutJob(known, id+"/word").JobDefinition(word).Wait("applied").Execute())
	second := must(client.JobsAPI.GetJob(known, id+"/word").Execute()).Definition.Get()
	ids := []string{}
	for _, one := range listed.Jobs {
		ids = append(ids, one.Id)
	}
	request := duelog.NewTriggerRequest()
	request.SetPayload(map[string]any{"n": 2})
	triggered := must(client.JobsAPI.TriggerJob(known, id).IdempotencyKey("once").TriggerRequest(*request).Execute())
	run := must(client.RunsAPI.GetRun(known, id, 1).Execute())
	for run.FinishedAt.Get() == nil {
		time.Sleep(50 * time.Millisecond)
		run = must(client.RunsAPI.GetRun(known, id, 1).Execute())
	}
	daily := duelog.NewSchedule()
	daily.SetEveryMs(86_400_000)
	daily.SetAnchor(duelog.Int64AsInstant(&at))
	preview := duelog.NewPreviewRequest(*daily)
	preview.SetFrom(duelog.Int64AsInstant(&at))
	preview.SetCount(1)
	previewed := must(client.SchedulesAPI.PreviewSchedule(known).PreviewRequest(*preview).Execute())
	named := *definition
	named.SetId(id)
	plan := must(client.JobsAPI.PlanJobs(known).PlanRequest(*duelog.NewPlanRequest([]duelog.JobDefinition{named})).Execute())
	file, err := os.CreateTemp("", "duelog-lines-*")
	if err != nil {
		panic(err)
	}
	defer os.Remove(file.Name())
	named.SetId(id + "/line")
	fmt.Fprintln(file, text(named))
	file.Seek(0, 0)
	lines := must(client.JobsAPI.WriteJobs(known).Body(file).Execute())
	defer os.Remove(lines.Name())
	var line struct{ Ok bool }
	if err := json.NewDecoder(lines).Decode(&line); err != nil {
		panic(err)
	}
	phases := []string{}
	for _, partition := range must(client.SystemAPI.ListPartitions(known).Execute()).Partitions {
		phases = append(phases, partition.Phase)
	}
	schedule = duelog.NewSchedule()
	fmt.Println(text(map[string]any{
		"applied":    made.Applied,
		"status":     job.Status,
		"at":         read.Schedule.GetAt().String,
		"startAt":    read.GetStartAt().String,
		"headers":    read.Headers,
		"payload":    read.Payload,
		"backoffMs":  read.Retry.Backoff.GetFixed().DelayMs,
		"priorities": []any{read.GetPriority().Int32, second.GetPriority().String},
		"lastRun":    job.LastRun.Get(),
		"listed":     strings.Join(ids, ","),
		"runId":      triggered.RunId.Get(),
		"run":        run.Status,
		"result":     run.Result,
		"preview":    previewed.Fires[0].AtMs,
		"plan":       plan.Jobs[0].Action,
		"line":       line.Ok,
		"partitions": strings.Join(phases, ","),
		"workers":    len(must(client.SystemAPI.ListWorkers(known).Execute()).Workers),
		"explained":  must(client.JobsAPI.ExplainJob(known, id).Execute()).Status,
		"missing":    problemOf(client.JobsAPI.GetJob(known, "nowhere").Execute()),
		"refused":    problemOf(client.JobsAPI.PutJob(known, id).JobDefinition(*duelog.NewJobDefinition(*schedule, *target)).Execute()),
		"stranger":   problemOf(clientOf(base).JobsAPI.GetJob(context.Background(), id).Execute()),
	}))
}

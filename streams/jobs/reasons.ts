/** Reasons why a job fired or did not, as sentences: present obstacles and past refusals. */
import type { ActiveRun, JobState, Refusal } from '../../schemas/index.ts'
import { zoneSkipsCountedMax } from '../runs/index.ts'
import { type Job, pristineState, waitsForHandler, waitsForPool, waitsForTopic } from '../state/index.ts'
import { duration, stateWords } from '../text/index.ts'

export interface Reason {
  /** A stable word for programs. */
  code: string
  /** One sentence for people. */
  text: string
  /** Epoch ms: when it was decided, or when it will be; null for a present condition. */
  at: number | null
  /** Id of the refused command. */
  commandId?: string
  /** Run that became a dead letter. */
  deadRunNo?: number
}

/** Sentences for each reason of the core (streams/state/refusals.ts and its callers). */
const reasons: Record<string, string> = {
  'catch-up': 'missed, and skipped by catchUp',
  overlap: 'an earlier run was still active',
  'CANCELLED overlap': 'a later occurrence replaced it',
  'max-concurrent-runs': 'the job had reached its maxConcurrentRuns; runs that wait for a slot or a start count too',
  'chain-depth': 'its chain of follow-ups had reached the maximum length; check whether these jobs trigger each other in a cycle',
  'follow-ups-waiting': 'as many follow-ups wait for the job as may wait',
  'chain-runs': 'the maximum number of runs had followed from one run; check whether these jobs trigger each other in a cycle',
  expired: 'its job had ended at its expireAt',
  command: 'a command requested it',
  attempts: 'it had no attempts left',
  'not-retryable': 'its error is not retryable',
  'max-age': 'its next attempt would have been later than retry.maxAgeMs allows',
  'start-deadline': 'no worker started it before its start deadline',
  'topic-retention':
    'no worker started it within the retention of its topic (retention.ms), which is shorter than startDeadlineMs',
  precondition: 'the definition in force was not the one to replace, or the job to create already existed',
  'stale-version': 'its version is lower than that of the definition in force',
  duplicate: 'its dedupKey is that of the definition in force, within dedupWindowMs',
  'zone-rules': 'under new time zone rules it was due before the last decided occurrence',
  replaced: 'a definition with other times replaced it',
  'concurrency-limit': 'the concurrencyLimit of its concurrencyKey was reached',
  'EXPIRED concurrency-limit': 'no slot of its concurrencyKey became free before its start deadline',
  'rate-limit': 'its rateLimit was reached',
  'handler-missing': 'no worker of its pool had its handler',
  'EXPIRED handler-missing': 'no worker of its pool had its handler before its start deadline',
  'pool-paused': 'its pool was paused',
  'EXPIRED pool-paused': 'its pool was paused until its expireAt',
  'EXPIRED rate-limit': 'its rateLimit allowed no start before its start deadline',
  'topic-unavailable': 'its topic could not be written to before its start deadline',
  'topic-target': 'a backfill needs a handler; a topic target is written only when it is due',
  'invalid-definition': 'the definition in force cannot be used',
  'unreadable-state': 'the state of the job cannot be read; define the job again',
  'unreadable-follow-ups': 'their records cannot be read',
  repeated: 'a command with the same commandId was already accepted',
  'no-such-job': 'there is no such job',
  'no-such-run': 'there is no such active run',
  'no-such-dead-run': 'there is no such dead run, or no longer',
  'backfill-active': 'another backfill is still active',
  'not-the-next': 'the occurrence that it names is not the next one of the job',
  'no-backfill': 'no backfill is in progress; the runs that one has made are cancelled one by one',
  'does-not-recur': 'the schedule does not recur',
  'empty-range': 'the range has no occurrence',
  'refused-by-log': 'the log does not take the state that the job would have',
}

/** A reason as the second half of a sentence. An unknown reason is returned as it is. */
export const reasonText = (reason: string): string => reasons[reason] ?? reason

/** Why a command was refused, as the reasons of the job say it. */
export const commandRefusalText = (reason: string): string => `A command was dropped: ${reasonText(reason)}.`

/** Reasons against a definition. */
const ofDefinitions: ReadonlySet<string> = new Set(['precondition', 'stale-version', 'duplicate'])

function droppedSubject({ commandId, reason, count, scheduledFor }: Refusal): string {
  if (commandId !== null) return 'A command was dropped'
  if (ofDefinitions.has(reason)) return count === 1 ? 'A definition was dropped' : `${count} definitions were dropped`
  if (scheduledFor !== null) return 'The rest of a backfill was dropped'
  // For follow-ups no command is named, because there may be many.
  const many = count === 1 ? 'A follow-up was' : `${count} follow-ups were`
  return `${many} ${reason.startsWith('chain-') ? 'not triggered' : 'refused'}`
}

const subjects: Record<Refusal['what'], (refusal: Refusal) => string> = {
  SKIPPED: ({ count, reason }) => {
    // At most this number is counted at once.
    const least = reason === 'zone-rules' && count >= zoneSkipsCountedMax ? 'At least ' : ''
    return count === 1 ? 'An occurrence was skipped' : `${least}${count} occurrences were skipped`
  },
  QUEUED: () => 'An occurrence was queued',
  WAITING: ({ runNo }) => (runNo === null ? 'An occurrence waits' : `Run ${runNo} waited`),
  EXPIRED: ({ runNo }) => `Run ${runNo} expired`,
  CANCELLED: ({ runNo }) => (runNo === null ? 'The job was cancelled' : `Run ${runNo} was cancelled`),
  DROPPED: droppedSubject,
  DEAD: ({ runNo }) => `Run ${runNo} became a dead letter`,
}

/** Present conditions first, then the last decisions, newest first. Never empty. */
export function whyOf(job: Job, nowMs: number): Reason[] {
  const state = job.state ?? pristineState(job)
  const past = [...state.decisions].reverse().map((refusal): Reason => {
    const { what, reason, at, scheduledFor, commandId, count, runNo } = refusal
    // Refusals that are counted together keep the time of the first.
    const when = scheduledFor === null ? '' : ` (${count > 1 ? 'the first was ' : ''}due ${new Date(scheduledFor).toISOString()})`
    return {
      code: reason,
      at,
      ...(commandId === null ? {} : { commandId }),
      ...(what === 'DEAD' && runNo !== null && { deadRunNo: runNo }),
      text: `${subjects[what](refusal)}${when}: ${reasons[`${what} ${reason}`] ?? reasonText(reason)}.`,
    }
  })
  return [...present(state, nowMs, job.definition?.spec?.target.pool), ...past]
}

/** `pool`: that of the definition in force. */
function present(state: JobState, nowMs: number, pool = ''): Reason[] {
  const now: Reason[] = []
  const say = (code: string, text: string, at: number | null = null): void => void now.push({ code, text, at })
  if (state.status === 'INVALID') {
    const { recheckAt } = state
    const again =
      recheckAt === null ? '' : ` It is checked again in ${duration(Math.max(0, recheckAt - nowMs))}, or when it is sent again.`
    say('invalid', `The definition cannot be used, so nothing fires: ${state.reason ?? ''}${again}`)
  }
  if (state.status === 'PAUSED') {
    const by = state.pausedByCommand ? 'by a command' : 'by its definition'
    const missedFrom =
      state.nextFireAt !== null && state.nextFireAt <= nowMs ? new Date(state.nextFireAt).toISOString() : undefined
    const missed = missedFrom === undefined ? 'missed occurrences' : `the occurrences missed since ${missedFrom}`
    say('paused', `The job is paused ${by}. Nothing fires until it is resumed; then catchUp decides about ${missed}.`)
  }
  if (state.status === 'COMPLETED') say('completed', completedText(state), state.finishedAt)
  if (state.queuedFor !== null) say('queued', 'One occurrence waits for the active run to end.', state.queuedFor)
  if (state.waiting) say('waiting', 'The next occurrence is due and waits until one of the active runs ends.', state.nextFireAt)
  else if (state.status === 'ACTIVE' && state.nextFireAt !== null) {
    const dueAt = state.nextDueAt ?? state.nextFireAt
    const due = dueAt <= nowMs ? 'is due now' : `is due in ${duration(dueAt - nowMs)}`
    const jitter =
      dueAt === state.nextFireAt ? '' : `, ${duration(dueAt - state.nextFireAt)} after its nominal time because of its jitter`
    say('scheduled', `The next occurrence ${due}${jitter}.`, dueAt)
  }
  for (const run of state.active) {
    if (run.status === 'WAITING') say(...waitOf(run))
    else if (waitsForPool(run))
      say('pool-paused', `Run ${run.runNo} waits until its pool ${pool} is resumed. It loses no attempt.`, run.poolPausedAt)
    else if (waitsForHandler(run))
      say(
        'handler-missing',
        `Run ${run.runNo} waits for a worker that has its handler. It loses no attempt.`,
        run.handlerMissingAt,
      )
    else if (waitsForTopic(run))
      say('topic-unavailable', `Run ${run.runNo} waits for its topic. ${run.errors.at(-1)?.message}`, run.errors.at(-1)?.at)
    else say('active', `Run ${run.runNo} ${stateWords(run.status)}.`, run.dueAt)
  }
  if (state.followUps !== null) say('follow-ups', `${state.followUps.count} follow-ups wait until the job has fewer active runs.`)
  if (state.deadRunsDropped > 0) say('dead-runs-dropped', droppedText(state.deadRunsDropped))
  if (state.backfill !== null)
    say('backfill', `A backfill of a past range is active. It has made ${state.backfill.made} runs.`, state.backfill.nextAt)
  return now
}

/** A job that never had an occurrence says so, for example if UNTIL or endAt had passed before it was defined. */
function completedText({ runNo, skipped, anchorAt }: JobState): string {
  if (runNo + skipped > 0) return 'The job has no further occurrence.'
  const from = new Date(anchorAt).toISOString()
  return `The job has no occurrence: its schedule, which was accepted at ${from}, has none after that time, or its window leaves none.`
}

const droppedText = (count: number): string =>
  count === 1
    ? '1 older dead run can no longer be redriven. Its record is in the topic executions.dlq.'
    : `${count} older dead runs can no longer be redriven. Their records are in the topic executions.dlq.`

/** What a run waits for, and since or until when. */
function waitOf({ runNo, waitsFor, limits, dueAt }: ActiveRun): [code: string, text: string, at: number] {
  if (waitsFor === 'RATE')
    return ['rate-limit', `Run ${runNo} waits for the start that the rate limit ${limits?.rateKey} gave it.`, dueAt]
  return ['concurrency-limit', `Run ${runNo} waits for a free slot of the concurrency key ${limits?.concurrencyKey}.`, dueAt]
}

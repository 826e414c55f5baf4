/** Runs `duelog audit` after each fault, as an operator does. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Network } from './network/network.ts'
import { ownCode, settings, targetTopic } from './system/duelog.ts'

const auditMsMax = 1_800_000
const graceMsMin = 4_000
const attemptsMax = 3
const pauseMs = 5_000

export interface AuditResult {
  clean: boolean
  /** Its output, on one line. */
  said: string
}

export interface AuditPlan {
  /** The range of nominal times to judge. */
  from: number
  to: number
  lateMs: number
  signal: AbortSignal
}

/** Judges the occurrences of a range of time. If the audit cannot read, it runs again, as its message says. */
export async function productAudit(network: Network, plan: AuditPlan): Promise<AuditResult> {
  for (let attempt = 1; ; attempt++) {
    const result = await auditOnce(network, plan)
    plan.signal.throwIfAborted()
    if (result.judged || attempt === attemptsMax) return result
    await wait(pauseMs)
  }
}

async function auditOnce(network: Network, { from, to, lateMs, signal }: AuditPlan): Promise<AuditResult & { judged: boolean }> {
  const program = [
    join(ownCode, 'src/program/cli/duelog.ts'),
    'audit',
    '--json',
    '--grace',
    `${Math.ceil((lateMs + graceMsMin) / 1_000)}`,
  ]
  const range = ['--from', `${from}`, '--to', `${to}`, '--target-topics', targetTopic]
  const { program: command, args } = network.at('outside', process.execPath, [...program, ...range])
  const { KAFKA_BROKERS, SCHEMA_REGISTRY_URL, DUELOG_TOPIC_PREFIX, PATH, HOME } = settings(network, 'outside')
  const env = { KAFKA_BROKERS, SCHEMA_REGISTRY_URL, DUELOG_TOPIC_PREFIX, PATH, HOME, NODE_ENV: 'production' }
  return new Promise((resolve) => {
    execFile(command, args, { env, signal, timeout: auditMsMax, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const verdict = jsonOf(stdout)
      if (verdict === undefined)
        return resolve({ judged: false, clean: false, said: (stderr.trim() || error?.message || 'nothing').slice(-500) })
      resolve({ judged: true, clean: verdict.clean === true && error === null, said: stdout.trim().slice(0, 2_000) })
    })
  })
}

function jsonOf(text: string): { clean?: boolean } | undefined {
  try {
    return JSON.parse(text) as { clean?: boolean }
  } catch {
    return undefined
  }
}

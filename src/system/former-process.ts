/**
 * The process that used a data folder before this one. Its instance stands in the folder; where it died without leaving its groups,
 * as by kill -9, its members are taken out of them, so that nobody waits until their sessions are over.
 */
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { TopicNames } from '../../streams/topics/index.ts'
import { messageOf } from '../errors/index.ts'
import type { KafkaLog, Logger } from '../kafka/index.ts'
import { writePrivate } from '../process/index.ts'

export interface Succession {
  dataDir: string
  /** Of this process. */
  instance: string
  /** Groups that the roles of this process join. */
  groups: readonly string[]
  log: Pick<KafkaLog, 'removeDeparted'>
  logger: Logger
}

/** To be called before any group is joined. What goes wrong costs the wait, and nothing else. */
export async function succeed({ dataDir, instance, groups, log, logger }: Succession): Promise<void> {
  const path = join(dataDir, 'instance')
  const former = (await readFile(path, 'utf8').catch(() => '')).trim()
  if (isDead(former)) {
    try {
      const members = await log.removeDeparted(former, groups)
      if (members > 0)
        logger.info({ former, members }, 'Start: the members of the process before, which is dead, have left their groups')
    } catch (error) {
      logger.warn(
        { former, error: messageOf(error) },
        'The members of the process before stay in their groups until their sessions end.',
      )
    }
  }
  try {
    await writePrivate(path, `${instance}\n`)
  } catch (error) {
    logger.warn({ error: messageOf(error) }, `${path} cannot be written; after a crash groups wait until sessions end.`)
  }
}

/** Whether an instance was a process of this machine and is none any more. Elsewhere, or where the pid is another's by now: not known. */
export function isDead(instance: string): boolean {
  const [, host, pid] = /^[^@]+@(.+):(\d+):[^:]+$/.exec(instance) ?? []
  if (host !== hostname()) return false
  // A process of the same pid as ours, as the first one of a container always is, was before us.
  if (Number(pid) === process.pid) return true
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** Those that the roles of a process join by name. */
export function groupsOf({ group }: TopicNames, pools: readonly string[]): string[] {
  return [group('scheduler'), group('retry'), group('intake'), group('auditor'), ...pools.map((pool) => group(`exec.${pool}`))]
}

/**
 * The process that used a data folder before this one. The folder holds its instance. If it died without leaving its groups, as with
 * kill -9, its members are removed from the groups, so that no other member waits until their sessions expire.
 */
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { TopicNames } from '../../../streams/topics/index.ts'
import { instanceParts, writePrivate } from '../../ground/process/index.ts'
import type { KafkaLog, Logger } from '../../log/kafka/index.ts'

export interface Succession {
  dataDir: string
  /** Of the file in it with the instance, as several processes may share the folder. Default `instance`. */
  fileName?: string
  /** Of this process. */
  instance: string
  /** Groups that the roles of this process may join. */
  groups: readonly string[]
  log: Pick<KafkaLog, 'removeDeparted'>
  logger: Logger
}

/** Call it before any group is joined. An error has one consequence only: the groups wait until the sessions expire. */
export async function succeed({ dataDir, fileName = 'instance', instance, groups, log, logger }: Succession): Promise<void> {
  const path = join(dataDir, fileName)
  const former = (await readFile(path, 'utf8').catch(() => '')).trim()
  if (isDead(former)) {
    try {
      const members = await log.removeDeparted(former, groups)
      if (members > 0)
        logger.info(
          { event: 'former-members-removed', former, members },
          'The previous process is dead. Its members were removed from their groups.',
        )
    } catch (error) {
      logger.warn(
        { event: 'former-members-stay', former, err: error },
        'The members of the previous process stay in their groups until their sessions end.',
      )
    }
  }
  try {
    await writePrivate(path, `${instance}\n`)
  } catch (error) {
    logger.warn(
      { event: 'former-file-not-written', err: error },
      `${path} cannot be written. After a crash the groups wait until the sessions end.`,
    )
  }
}

/** Whether an instance was a process of this machine and has ended. False also if that is unknown: on another machine, or if the pid was reused. */
export function isDead(instance: string): boolean {
  const { host, pid } = instanceParts(instance) ?? {}
  if (host !== hostname() || pid === undefined) return false
  // A process with our own pid is a former one. The first process of a container always has the same pid.
  if (pid === process.pid) return true
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** Names of all groups that the roles of a process may join. */
export function groupsOf({ group }: TopicNames, pools: readonly string[]): string[] {
  return [
    group('scheduler'),
    group('retry'),
    group('intake'),
    group('auditor'),
    group('operations'),
    group('history'),
    ...pools.map((pool) => group(`exec.${pool}`)),
  ]
}

/** Waits for an answer of a child process. */
import type { ChildProcess } from 'node:child_process'

/** A child that has not answered by then has failed. */
const answerMsMax = 600_000

/**
 * The next message for which `isMeant` holds. Rejects if the process ends before, or after 10 minutes. `what`: what the child was
 * asked for.
 */
export function nextMessage<Message>(
  child: ChildProcess,
  what: string,
  isMeant: (message: unknown) => message is Message,
): Promise<Message> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void): void => {
      clearTimeout(timer)
      child.off('message', onMessage)
      child.off('exit', onExit)
      end()
    }
    const onMessage = (message: unknown): void => {
      if (isMeant(message)) settle(() => resolve(message))
    }
    const onExit = (code: number | null): void =>
      settle(() => reject(new Error(`A process under test ended with code ${code} during "${what}".`)))
    const onLate = (): void => settle(() => reject(new Error(`"${what}" was not answered within ${answerMsMax / 1_000} s.`)))
    const timer = setTimeout(onLate, answerMsMax)
    child.on('message', onMessage)
    child.on('exit', onExit)
  })
}

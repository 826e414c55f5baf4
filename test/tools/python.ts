/** A Python of its own, with the packages that a test needs. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const installMsMax = 240_000

export interface WantedPython {
  /** Empty, or not there yet. */
  folder: string
  /** The oldest version, such as 3.9. */
  version: string
  /** Path of a requirements file. */
  requirements: string
  /** More arguments of `pip install`. */
  pip?: readonly string[]
  /** What cannot be done without it, and what to do if pip fails. */
  lack: string
  pipAdvice: string
}

/** Makes a virtual environment and resolves with the path of its `python`. Rejects with a sentence that says what is missing. */
export async function makePython({ folder, version, requirements, pip = [], lack, pipAdvice }: WantedPython): Promise<string> {
  const python = join(folder, 'bin', 'python')
  const steps: [program: string, args: string[], advice: string][] = [
    ['python3', ['-m', 'venv', folder], `install Python ${version} or later with its venv module`],
    [python, ['-m', 'pip', 'install', '--quiet', ...pip, '--requirement', requirements], pipAdvice],
  ]
  for (const [program, args, advice] of steps)
    await run(program, args, { timeout: installMsMax }).catch((error: { stderr?: string; message: string }) => {
      const said = (error.stderr || error.message).trim().split('\n').slice(-3).join(' ')
      throw new Error(`${lack}: ${advice}. It said: ${said}`)
    })
  return python
}

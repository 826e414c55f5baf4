/**
 * The Python of the checker: a virtual environment with pinned packages. pip makes it before the drill isolates itself from the
 * network.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const requirements = fileURLToPath(new URL('requirements.txt', import.meta.url))
const installMsMax = 240_000

/** Resolves with the path of `python`. Rejects with a sentence that says what is missing. */
export async function makeCheckerEnvironment(folder: string): Promise<string> {
  const home = join(folder, 'python')
  const python = join(home, 'bin', 'python')
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--require-hashes', '--only-binary', ':all:']
  const steps: [string, string[], string][] = [
    ['python3', ['-m', 'venv', home], 'install Python 3.11 or later with its venv module'],
    [
      python,
      [...install, '--requirement', requirements],
      'pip must reach a package index, or find the wheels of requirements.txt by PIP_FIND_LINKS; for a Python or a machine whose wheels are not listed there, add their hashes',
    ],
  ]
  for (const [program, args, advice] of steps)
    await run(program, args, { timeout: installMsMax }).catch((error: { stderr?: string; message: string }) => {
      const said = (error.stderr || error.message).trim().split('\n').slice(-3).join(' ')
      throw new Error(`There is no checker, and without it nothing is judged: ${advice}. It said: ${said}`)
    })
  return python
}

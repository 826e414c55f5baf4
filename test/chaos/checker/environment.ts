/**
 * The Python of the checker: a virtual environment with pinned packages. pip makes it before the drill isolates itself from the
 * network.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makePython } from '../../tools/python.ts'

/** Resolves with the path of `python`. Rejects with a sentence that says what is missing. */
export const makeCheckerEnvironment = (folder: string): Promise<string> =>
  makePython({
    folder: join(folder, 'python'),
    version: '3.11',
    requirements: fileURLToPath(new URL('requirements.txt', import.meta.url)),
    pip: ['--disable-pip-version-check', '--require-hashes', '--only-binary', ':all:'],
    lack: 'There is no checker, and without it nothing is judged',
    pipAdvice:
      'pip must reach a package index, or find the wheels of requirements.txt by PIP_FIND_LINKS; for a Python or a machine whose wheels are not listed there, add their hashes',
  })

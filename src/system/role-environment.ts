/** The environment and the flags of a child process that runs roles. Its settings are in its plan (role-child.ts). */
import { join } from 'node:path'
import { type Config, settingByName } from '../config/index.ts'

/** Half of V8's young generation, in MB. By default it grows to 16 MB while a process loads its code, and stays so. */
export const childFlags = ['--max-semi-space-size=4']

/** The environment of this process with its given settings, for handlers. */
export function environmentOf({ given, dataDir }: Pick<Config, 'given' | 'dataDir'>): NodeJS.ProcessEnv {
  const foreign = Object.entries(process.env).filter(([name]) => !name.startsWith('DUELOG_') && !settingByName.has(name))
  return { ...Object.fromEntries(foreign), ...given, NODE_COMPILE_CACHE: join(dataDir, 'compiled') }
}

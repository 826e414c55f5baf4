/** The environment for a Duelog that a test starts as its own process. */

/** The environment of this process without the names of the test run, which Duelog rightly refuses as unknown settings. */
export function duelogEnvironment(settings: Record<string, string> = {}): Record<string, string | undefined> {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('DUELOG_'))
  return { ...Object.fromEntries(others), ...settings }
}

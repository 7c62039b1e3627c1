/** The environment variables of a process, or a substitute. */
export type Env = Readonly<Record<string, string | undefined>>

/** Variables that every program needs to find other programs, its home, its language and its temporary directory. */
const basic = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'TMPDIR',
  'TMP',
  'TEMP',
  'SystemRoot',
]

/**
 * Returns the environment of a shell hook: the basic variables, and those that its entry names or sets. Provider keys are not included by
 * default.
 */
export function hookEnv(
  env: Env,
  extraNames: readonly string[] | Readonly<Record<string, string | true>> = [],
): Record<string, string> {
  const childEnv: Record<string, string> = {}
  const pass = (name: string) => {
    const value = env[name]
    if (value !== undefined) childEnv[name] = value
  }
  basic.forEach(pass)
  if (Array.isArray(extraNames)) extraNames.forEach(pass)
  else
    for (const [name, value] of Object.entries(extraNames)) {
      if (value === true) pass(name)
      else childEnv[name] = value
    }
  return childEnv
}

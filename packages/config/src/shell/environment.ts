/** Variables of a process, or what stands for them. */
export type Env = Readonly<Record<string, string | undefined>>

/** What every program needs to find others, its home, its language and its place for temporary files. */
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

/** The environment of a shell hook: the basic variables, and those that its entry names or sets. No key of a provider gets there by itself. */
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

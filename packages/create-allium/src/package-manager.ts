import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun'

/** Returns the package manager that runs this command, by the variable that each of them sets. */
export function packageManagerOf(userAgent: string | undefined): PackageManager {
  const name = userAgent?.split('/')[0]
  return name === 'pnpm' || name === 'yarn' || name === 'bun' ? name : 'npm'
}

const execute = promisify(execFile)

/** @throws Error with the output of the package manager */
export async function installDependencies(manager: PackageManager, cwd: string): Promise<void> {
  const quiet = manager === 'npm' ? ['--no-audit', '--no-fund', '--loglevel=error'] : []
  await run(manager, ['install', ...quiet], cwd)
}

/** Creates a repository. Does nothing inside another repository, or without git. */
export async function initGit(cwd: string): Promise<void> {
  try {
    await execute('git', ['rev-parse', '--is-inside-work-tree'], { cwd })
  } catch {
    await execute('git', ['init', '--quiet'], { cwd }).catch(() => {})
  }
}

async function run(command: string, args: readonly string[], cwd: string): Promise<void> {
  // On Windows, package managers are scripts that only a shell can run. No argument comes from outside.
  const shell = process.platform === 'win32'
  await execute(command, args, { cwd, shell, maxBuffer: 16 << 20 }).catch((error: Error & { stderr?: string }) => {
    throw new Error(error.stderr?.trim() || error.message)
  })
}

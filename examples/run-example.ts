import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Runs the example that a test belongs to as `pnpm start` does, without the environment's keys. For tests alone. */
export function runExample(test: string): Promise<{ code: number; out: string; err: string }> {
  const args = ['--conditions=@allium/source', '--import=tsx', 'src/index.ts']
  const options = { cwd: fileURLToPath(new URL('..', test)), env: { PATH: process.env.PATH } }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, options, (_, out, err) => {
      resolve({ code: child.exitCode ?? 1, out, err })
    })
  })
}

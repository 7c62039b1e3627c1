import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

const modules = resolve('e2e/runtimes/node_modules')
/** The command of each bundler and runtime. */
const commands = {
  'Node (this one)': [process.execPath],
  'Node 22': [`${modules}/node22/bin/node`],
  'Node 24': [`${modules}/node24/bin/node`],
  Bun: [`${modules}/.bin/bun`],
  Deno: [`${modules}/.bin/deno`, 'run', '--allow-all'],
  workerd: [`${modules}/.bin/workerd`],
  esbuild: [`${modules}/.bin/esbuild`],
  rolldown: [`${modules}/.bin/rolldown`],
  vite: [`${modules}/.bin/vite`],
} as const

export type Tool = keyof typeof commands

const known = new Map<Tool, string | undefined>()

/** Why a tool cannot be used on this machine; undefined if it can. Each is asked for its version once. */
export function absent(tool: Tool): string | undefined {
  if (!known.has(tool)) known.set(tool, reasonOf(tool))
  return known.get(tool)
}

function reasonOf(tool: Tool): string | undefined {
  const [command] = commands[tool]
  if (!existsSync(command)) return `${command} is not installed`
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' })
    return undefined
  } catch (error) {
    return (error as Error).message.split('\n')[0]
  }
}

/** The command of a tool, with what comes before its own arguments. */
export function commandOf(tool: Tool): readonly string[] {
  return commands[tool]
}

const execute = promisify(execFile)

/** Runs a tool to its end, and gives what it printed. */
export async function run(tool: Tool, args: readonly string[], cwd: string): Promise<string> {
  const [command, ...first] = commands[tool]
  const env = { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'production', NO_COLOR: '1', OPENAI_API_KEY: '' }
  const { stdout } = await execute(command, [...first, ...args], { cwd, env, timeout: 60_000 })
  return stdout
}

/** Starts a tool that goes on until `end`; a shell may stand around it. */
export function start(tool: Tool, args: readonly string[], cwd: string): ChildProcess {
  const [command, ...first] = commands[tool]
  return spawn(command, [...first, ...args], { cwd, stdio: ['ignore', 'ignore', 'inherit'], detached: true })
}

export function end({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL')
}

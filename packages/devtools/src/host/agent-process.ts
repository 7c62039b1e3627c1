import { type ChildProcess, fork } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { AgentFacts, ChildMessage, ChildOptions, ParentMessage } from '../messages.ts'
import { childScript, nodeArguments } from '../package-files.ts'

/** A process with the agent, which serves requests at a port. */
export interface AgentProcess extends AgentFacts {
  readonly port: number
  /** Aborts its runs, which are stored as interrupted, and ends the process. */
  close(): Promise<void>
}

export interface AgentProcessOptions extends ChildOptions {
  /** Receives each line that the process writes. */
  onLine(stream: 'stdout' | 'stderr', line: string): void
  /** The process ended without a call of `close()`. */
  onExit(): void
}

/** How long a process may take to close. After that it is killed, and its runs are interrupted when their leases expire. */
const closeTimeout = 5_000

/** Starts a process for the agent. Rejects with the error of the agent's module if it does not load. */
export async function startAgentProcess({ onLine, onExit, ...options }: AgentProcessOptions): Promise<AgentProcess> {
  const child = fork(childScript, { cwd: options.cwd, execArgv: nodeArguments(), silent: true })
  for (const stream of ['stdout', 'stderr'] as const)
    createInterface({ input: child[stream] as NodeJS.ReadableStream }).on('line', (line) => onLine(stream, line))
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const answer = firstMessage(child)
  send(child, { type: 'start', options })
  const message = await answer
  if (message.type !== 'ready') {
    await closeProcess(child, exited)
    throw new AgentLoadError(message.type === 'failed' ? message.message : 'The process did not start the agent.')
  }
  let isClosing = false
  exited.then(() => isClosing || onExit())
  return {
    port: message.port,
    agent: message.agent,
    principal: message.principal,
    readOnly: message.readOnly,
    close() {
      isClosing = true
      return closeProcess(child, exited)
    },
  }
}

/** The agent's module could not be loaded. The message is the error of the module, with its stack. */
class AgentLoadError extends Error {
  override readonly name = 'AgentLoadError'
}

function firstMessage(child: ChildProcess): Promise<ChildMessage> {
  return new Promise((resolve) => {
    child.once('message', (message) => resolve(message as ChildMessage))
    child.once('exit', (code) => {
      resolve({ type: 'failed', message: `The agent's process ended with exit code ${code} while it loaded.` })
    })
  })
}

async function closeProcess(child: ChildProcess, exited: Promise<void>): Promise<void> {
  const timer = setTimeout(() => child.kill('SIGKILL'), closeTimeout)
  if (child.connected) send(child, { type: 'close' })
  await exited
  clearTimeout(timer)
}

function send(child: ChildProcess, message: ParentMessage): void {
  child.send(message, () => {})
}

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { AlliumError, followSignal, messageOf } from '@allium/core'
import { killTree } from './kill-tree.ts'
import { endWithUs } from './live-groups.ts'
import { Output, Tail } from './output.ts'

/** A program to run: never through a shell, so that no text becomes a command. */
export interface Job {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** What it gets on stdin. */
  readonly input: string
  /** Ends it, and all that it started. */
  readonly signal: AbortSignal
  /** Takes the lines of its stderr. */
  onLine(line: string): void
  /** The run's completion waits for this work. */
  defer(work: Promise<unknown>): void
}

/** Milliseconds that a grandchild may hold stdout after the child has ended. */
const held = 100
const markName = 'ALLIUM_HOOK_ID'

/**
 * Runs a program and gives what it wrote to stdout.
 *
 * @throws AlliumError `shell.start`, `shell.exit` for a status other than 0 or a signal, `shell.output` for more than 8 MiB
 */
export function runProcess(job: Job): Promise<string> {
  return new Promise((resolve, reject) => {
    const { command, args, cwd, env, input, signal } = job
    const id = randomUUID()
    const mark = `${markName}=${id}`
    const stderr = new Tail(job.onLine)
    const stdout = new Output()
    const { started, letGo } = endWithUs(mark)
    let child: ChildProcessByStdio<Writable, Readable, Readable>
    try {
      child = spawn(command, args, { cwd, env: { ...env, [markName]: id }, detached: true, windowsHide: true })
    } catch (error) {
      letGo()
      return reject(notStarted(command, error))
    }
    const { pid } = child
    if (pid !== undefined) started(pid)
    let open = true
    let release = () => {}

    /** Ends the wait; `left` says that processes may be left behind. */
    const settle = (left: boolean, done: () => void) => {
      if (!open) return
      open = false
      release()
      for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy()
      stderr.end()
      if (left && pid !== undefined) job.defer(killTree(pid, mark).finally(letGo))
      else letGo()
      done()
    }
    const onAbort = () => settle(true, () => reject(signal.reason))
    const ended = (code: number | null, by: NodeJS.Signals | null, left: boolean) =>
      settle(left, () => (code === 0 ? resolve(stdout.text()) : reject(notWell(command, code, by, stderr.text))))

    if (signal.aborted) return onAbort()
    release = followSignal(signal, onAbort)
    child.on('error', (error) => settle(false, () => reject(notStarted(command, error))))
    child.on('exit', (code, by) => {
      const timer = setTimeout(() => ended(code, by, true), held)
      child.on('close', () => {
        clearTimeout(timer)
        ended(code, by, code !== 0)
      })
    })
    child.stdout.on('data', (chunk: Buffer) => {
      if (!stdout.take(chunk)) settle(true, () => reject(tooMuch(command)))
    })
    child.stderr.on('data', (chunk: Buffer) => stderr.take(chunk))
    // One that reads nothing, or not all, may do so.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

function notStarted(command: string, cause: unknown): AlliumError {
  return new AlliumError('shell.start', `The program "${command}" could not be started: ${messageOf(cause)}.`, {
    cause,
  })
}

function notWell(command: string, code: number | null, by: string | null, stderr: string): AlliumError {
  const how = code === null ? `was ended by ${by}` : `ended with the status ${code}`
  const said = stderr.trim() === '' ? '' : ` It wrote: ${stderr.trim()}`
  return new AlliumError('shell.exit', `The program "${command}" ${how}.${said}`, {
    details: { code, signal: by, stderr },
  })
}

function tooMuch(command: string): AlliumError {
  return new AlliumError(
    'shell.output',
    `The program "${command}" wrote more than 8 MiB to stdout. It answers with one JSON object, or nothing.`,
  )
}

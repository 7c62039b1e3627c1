import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { AlliumError, followSignal, messageOf } from '@allium/core'
import { killTree } from './kill-tree.ts'
import { Output, Tail } from './output.ts'
import { killWithParent } from './process-groups.ts'

/** A program to run, never through a shell, so that no text becomes a command. */
export interface Job {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** The content of its stdin. */
  readonly input: string
  /** Ends the program and everything that it started. */
  readonly signal: AbortSignal
  /** Receives the lines of its stderr. */
  onLine(line: string): void
  /** Registers work that the run awaits before it completes. */
  defer(work: Promise<unknown>): void
}

/** How long a grandchild may keep stdout open after the child has ended, in milliseconds. */
const closeDelay = 100
const markerVariable = 'ALLIUM_HOOK_ID'

/**
 * Runs a program and returns its stdout.
 *
 * @throws AlliumError `shell.start`, `shell.exit` for a non-zero status or a signal, `shell.output` for more than 8 MiB
 */
export function runProcess(job: Job): Promise<string> {
  return new Promise((resolve, reject) => {
    const { command, args, cwd, env, input, signal } = job
    const id = randomUUID()
    const marker = `${markerVariable}=${id}`
    const stderr = new Tail(job.onLine)
    const stdout = new Output()
    const { onStart, release: releaseGroup } = killWithParent(marker)
    let child: ChildProcessByStdio<Writable, Readable, Readable>
    try {
      child = spawn(command, args, { cwd, env: { ...env, [markerVariable]: id }, detached: true, windowsHide: true })
    } catch (error) {
      releaseGroup()
      return reject(startFailed(command, error))
    }
    const { pid } = child
    if (pid !== undefined) onStart(pid)
    let open = true
    let unfollow = () => {}

    /** Ends the wait. `mayLeaveProcesses` means that child processes may still be running and must be killed. */
    const settle = (mayLeaveProcesses: boolean, finish: () => void) => {
      if (!open) return
      open = false
      unfollow()
      for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy()
      stderr.end()
      if (mayLeaveProcesses && pid !== undefined) job.defer(killTree(pid, marker).finally(releaseGroup))
      else releaseGroup()
      finish()
    }
    const onAbort = () => settle(true, () => reject(signal.reason))
    const onEnd = (code: number | null, by: NodeJS.Signals | null, mayLeaveProcesses: boolean) =>
      settle(mayLeaveProcesses, () =>
        code === 0 ? resolve(stdout.text()) : reject(exitFailed(command, code, by, stderr.text)),
      )

    if (signal.aborted) return onAbort()
    unfollow = followSignal(signal, onAbort)
    child.on('error', (error) => settle(false, () => reject(startFailed(command, error))))
    child.on('exit', (code, by) => {
      const timer = setTimeout(() => onEnd(code, by, true), closeDelay)
      child.on('close', () => {
        clearTimeout(timer)
        onEnd(code, by, code !== 0)
      })
    })
    child.stdout.on('data', (chunk: Buffer) => {
      if (!stdout.append(chunk)) settle(true, () => reject(outputTooLarge(command)))
    })
    child.stderr.on('data', (chunk: Buffer) => stderr.append(chunk))
    // A program may exit without reading all of its input.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

function startFailed(command: string, cause: unknown): AlliumError {
  return new AlliumError('shell.start', `The program "${command}" could not be started: ${messageOf(cause)}.`, {
    cause,
  })
}

function exitFailed(command: string, code: number | null, by: string | null, stderr: string): AlliumError {
  const outcome = code === null ? `was ended by ${by}` : `ended with the status ${code}`
  const stderrText = stderr.trim() === '' ? '' : ` It wrote: ${stderr.trim()}`
  return new AlliumError('shell.exit', `The program "${command}" ${outcome}.${stderrText}`, {
    details: { code, signal: by, stderr },
  })
}

function outputTooLarge(command: string): AlliumError {
  return new AlliumError(
    'shell.output',
    `The program "${command}" wrote more than 8 MiB to stdout. It answers with one JSON object, or nothing.`,
  )
}

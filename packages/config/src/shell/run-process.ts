import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { AlliumError, followSignal, messageOf } from '@allium/core'
import { killTree } from './kill-tree.ts'
import { Output, Tail } from './output.ts'
import { killWithParent } from './process-groups.ts'

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
const closeDelay = 100
const markerVariable = 'ALLIUM_HOOK_ID'

/**
 * Runs a program and gives what it wrote to stdout.
 *
 * @throws AlliumError `shell.start`, `shell.exit` for a status other than 0 or a signal, `shell.output` for more than 8 MiB
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

    /** Ends the wait; `left` says that processes may be left behind. */
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
    // One that reads nothing, or not all, may do so.
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

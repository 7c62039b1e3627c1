import type { Command, CommandRequest } from './command.ts'
import { changedCode, notAwaited, requestedInside } from './errors.ts'
import { type Batch, isComplete } from './recorded.ts'

/** How `run()` continues: it waits for commands, or it has ended. */
export type Progress = { readonly commands: readonly Command[] } | { readonly result: unknown }

type Settled = { readonly result: unknown } | { readonly error: unknown }

/**
 * Executes the code of one workflow run. It begins at the first line, gets the recorded results, and continues up to the first commands that
 * have none. Commands that wait at the same time form a batch.
 */
export class Program {
  readonly #toCallId: (key: string) => string
  readonly #uses = new Map<string, number>()
  #open: Command[] = []
  /** Commands of the current batch, by the ids of their calls. */
  readonly #running = new Map<string, Command>()
  /** The commands run, and the code waits for all of them. */
  #isWaiting = false
  #settled: Settled | undefined
  #delivered = 0
  #changed = () => {}
  #advancing: Promise<unknown> = Promise.resolve()

  /**
   * @param start begins the code. Its commands arrive at `request()`
   * @param toCallId returns the id of the call for the key of a command
   */
  constructor(start: () => Promise<unknown>, toCallId: (key: string) => string) {
    this.#toCallId = toCallId
    const settle = (settled: Settled) => {
      this.#settled = settled
      this.#changed()
    }
    void Promise.resolve()
      .then(start)
      .then(
        (result) => settle({ result }),
        (error) => settle({ error }),
      )
  }

  /**
   * The code requests a command. Resolves with its result.
   *
   * @throws AlliumError `run.failed` while other commands run
   */
  request(request: CommandRequest): Promise<unknown> {
    if (this.#isWaiting) throw requestedInside(request, this.#open)
    const uses = (this.#uses.get(request.name) ?? 0) + 1
    this.#uses.set(request.name, uses)
    const key = uses === 1 ? request.name : `${request.name}#${uses}`
    const result = new Promise((resolve, reject) => {
      this.#open.push({ ...request, key, resolve, reject })
    })
    // The code may wait for another command first.
    result.catch(() => {})
    this.#changed()
    return result
  }

  /** The command of a call that runs now. */
  running(callId: string): Command | undefined {
    return this.#running.get(callId)
  }

  /**
   * Gives the code its recorded results and returns how it continues.
   *
   * @throws AlliumError `journal.diverged` if the code requests other commands than were recorded, and the error of the code
   */
  advance(batches: readonly Batch[]): Promise<Progress> {
    const advanced = this.#advancing.then(() => this.#advance(batches))
    this.#advancing = advanced.catch(() => {})
    return advanced
  }

  async #advance(batches: readonly Batch[]): Promise<Progress> {
    for (;;) {
      await this.#quiet()
      const batch = batches[this.#delivered]
      if (batch === undefined) break
      this.#check(batch)
      if (!isComplete(batch)) return this.#begin()
      this.#deliver(batch)
    }
    if (this.#settled === undefined) return this.#begin()
    if ('error' in this.#settled) throw this.#settled.error
    if (this.#open.length > 0) throw notAwaited(this.#open)
    return { result: this.#settled.result }
  }

  /** Resolves when the code waits for commands, or has ended. */
  async #quiet(): Promise<void> {
    while (this.#settled === undefined && this.#open.length === 0)
      await new Promise<void>((resolve) => {
        this.#changed = resolve
      })
    // After all promises that are settled now, so that the same commands are in a batch in each replay.
    await new Promise((resolve) => setImmediate(resolve))
  }

  #check(batch: Batch): void {
    const isSame = ({ callId, name }: Batch['calls'][number], command: Command | undefined) =>
      command !== undefined && this.#toCallId(command.key) === callId && command.kind === name
    const hasEnded = this.#settled !== undefined
    const { calls } = batch
    if (calls.length !== this.#open.length || !calls.every((call, index) => isSame(call, this.#open[index])))
      throw changedCode(batch, this.#open, hasEnded && this.#open.length === 0)
  }

  #begin(): Progress {
    this.#isWaiting = true
    this.#running.clear()
    for (const command of this.#open) this.#running.set(this.#toCallId(command.key), command)
    return { commands: this.#open }
  }

  #deliver({ results }: Batch): void {
    const commands = this.#open
    this.#open = []
    this.#isWaiting = false
    this.#delivered++
    for (const command of commands) {
      const result = results.get(this.#toCallId(command.key))
      if (result === undefined) continue
      try {
        command.resolve(command.read(result))
      } catch (error) {
        command.reject(error)
      }
    }
  }
}

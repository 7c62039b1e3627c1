import type { ChildProcess } from 'node:child_process'
import type { Crew } from './crew.ts'
import type { Opened, Place } from './scene.ts'
import type { Client } from './turns.ts'

/** What starts runs again whose process was lost. */
export interface Engine {
  readonly name: string
  readonly place: Place
  /** The program of its processes. */
  readonly worker: string
  /** In how many leases a killed run is taken over, at the most; undefined where its times are not ours. */
  readonly slowest: number | undefined
  /** Told of each process that begins. */
  begun(child: ChildProcess): void
  client(store: Opened, crew: Crew, random: () => number): Client
  /** Stops its server as a crash does, every 5 s, until `end()`; absent where it has none. */
  readonly crashing?: (() => { end(): Promise<{ restarts: number }> }) | undefined
  end(): Promise<void>
}

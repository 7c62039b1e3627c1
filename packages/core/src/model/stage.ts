import { Assembly } from './assembly.ts'
import type { ContentChunk } from './chunk.ts'
import type { PipeLink } from './pipe-link.ts'
import { pushAll, type Sink } from './sink.ts'
import { chainTransforms, type Transforms } from './transforms.ts'

/** The place of one layer in the stream: its transforms, and an assembly of what left it. */
export class Stage implements Sink {
  used = false
  assembly: Assembly
  #entry: Pick<Sink, 'push'>
  #pipes: PipeLink[]
  #held: ContentChunk[]
  #dead = false

  constructor(
    readonly layer: string,
    readonly transforms: Transforms,
    readonly out: Sink,
  ) {
    this.assembly = new Assembly(`Layer "${layer}"`)
    this.#held = []
    const { entry, pipes } = this.#chain()
    this.#entry = entry
    this.#pipes = pipes
  }

  push(chunk: ContentChunk): void | Promise<void> {
    this.used = true
    if (!this.#dead) return this.#entry.push(chunk)
  }

  /** Fresh pipes and an empty assembly; what went outward is taken back there. */
  reset(): void {
    this.kill()
    this.#dead = false
    this.used = false
    this.begin()
    const { entry, pipes } = this.#chain()
    this.#entry = entry
    this.#pipes = pipes
    this.#held = []
    if (this.out.used) this.out.reset()
  }

  /** A new answer, into the same stream. */
  begin(): void {
    this.assembly = new Assembly(`Layer "${this.layer}"`)
  }

  /** The layer inside has returned: what the pipes hold back flows on. */
  end(): void | Promise<void> {
    if (this.#pipes.length === 0) return this.assembly.close()
    return this.#endPipes()
  }

  /** Fresh pipes for the next answer. */
  reopen(): void {
    if (this.#pipes.length === 0) return
    const { entry, pipes } = this.#chain()
    this.#entry = entry
    this.#pipes = pipes
  }

  /** Sends on what `hold` kept. */
  release(): void | Promise<void> {
    const held = this.#held
    this.#held = []
    return pushAll(this.out, held)
  }

  /** What `hold` keeps; the caller may cut it. */
  get held(): ContentChunk[] {
    return this.#held
  }

  /** Drops whatever still comes. */
  kill(): void {
    this.#dead = true
    for (const pipe of this.#pipes) pipe.kill()
  }

  async #endPipes(): Promise<void> {
    for (const pipe of this.#pipes) await pipe.end()
    this.assembly.close()
  }

  #chain(): { entry: Pick<Sink, 'push'>; pipes: PipeLink[] } {
    const { hold } = this.transforms
    return chainTransforms(this.layer, this.transforms, {
      push: (chunk) => {
        if (this.#dead) return
        this.assembly.add(chunk)
        if (!hold) return this.out.push(chunk)
        this.#held.push(chunk)
      },
    })
  }
}

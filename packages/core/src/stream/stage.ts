import type { ContentChunk, TextDelta } from '../model/chunk.ts'
import type { Assembly } from './assembly.ts'
import { Forwarded } from './forwarded.ts'
import { PipeLink } from './pipe-link.ts'
import { checkChunk, type OnChunk, pushAll, type Sink, type StreamEnd, type Transforms } from './transforms.ts'

/** The place of one layer in the stream, for one attempt: its transforms and its output. */
export class Stage implements Sink {
  used = false
  #passed: Forwarded
  #entry: Pick<Sink, 'push'>
  #pipes: PipeLink[]
  #held: ContentChunk[] = []
  /** Where the current answer starts in `#held`. */
  #mark = 0
  #live = true
  /** Set if the layer has a single map and nothing else, as most layers do. */
  readonly #map: OnChunk | undefined
  readonly #exit: Pick<Sink, 'push'> = { push: (chunk) => this.#leave(chunk) }

  constructor(
    readonly layer: string,
    readonly transforms: Transforms,
    readonly out: Sink,
  ) {
    this.#passed = new Forwarded(`Layer "${layer}"`)
    const [only, second] = transforms.steps
    if (only !== undefined && second === undefined && 'map' in only) this.#map = only.map
    const { entry, pipes } = this.#chain()
    this.#entry = entry
    this.#pipes = pipes
  }

  get open(): boolean {
    return this.transforms.hold || this.out.open
  }
  /** The output of the layer. */
  get assembly(): Assembly {
    return this.#passed.assembly
  }
  /** Whether the layer may have changed something. */
  get changed(): boolean {
    return this.#map === undefined || this.#passed.changed
  }

  push(chunk: ContentChunk): void | Promise<void> {
    this.used = true
    if (this.#map === undefined) return this.#entry.push(chunk)
    const { type, delta, id } = chunk as TextDelta
    const mapped = this.#map(chunk)
    if (mapped === undefined || mapped === chunk) {
      if (!isPlainText(chunk) || type !== chunk.type || delta !== chunk.delta || id !== chunk.id)
        this.#passed.changed = true
      return this.#leave(chunk)
    }
    this.#passed.changed = true
    if (mapped === null) return
    if (!Array.isArray(mapped)) return this.#leave(checkChunk(mapped, this.layer))
    for (const one of mapped) checkChunk(one, this.layer)
    return pushAll(this.#exit, mapped)
  }

  /** Restarts the answer. Output that was already sent is reset in the outer sink. */
  reset(): void {
    this.restart()
    if (this.out.used) this.out.reset()
  }

  /** Restarts the answer without a reset of the outer sink. */
  restart(): void {
    for (const pipe of this.#pipes) pipe.kill(startedAgain)
    this.#held.length = this.#mark
    this.begin()
  }

  /** Starts a new answer in the same stream, with fresh pipes and an empty assembly. */
  begin(): void {
    this.used = false
    this.#mark = this.#held.length
    this.#passed = new Forwarded(`Layer "${this.layer}"`)
    const { entry, pipes } = this.#chain()
    this.#entry = entry
    this.#pipes = pipes
  }

  /**
   * Starts fresh pipes for late content of an answer that has already passed. `used` stays, so a reset takes back the
   * whole answer.
   */
  refresh(): void {
    const { used } = this
    this.begin()
    this.used = used
  }

  /** The source has ended. The pipes flush the content that they hold back. */
  end(end: StreamEnd): void | Promise<void> {
    if (this.#pipes.length === 0) return this.#passed.close()
    return this.#endPipes(end)
  }

  /** The source has failed. The pipes flush the content that they hold back, and later chunks are dropped. */
  fail(error: unknown): void | Promise<void> {
    if (this.#pipes.length > 0 && this.#live) return this.#drain(error)
    this.#live = false
  }

  /** Sends the chunks that `hold` buffered. */
  release(): void | Promise<void> {
    const held = this.#held
    this.#held = []
    this.#mark = 0
    return pushAll(this.#outward, held)
  }

  /** Replaces the buffered chunks of the current answer. */
  replace(chunks: readonly ContentChunk[]): void {
    this.#held.splice(this.#mark, Number.POSITIVE_INFINITY, ...chunks)
  }

  /** Drops all further chunks and passes the reason to the pipes. */
  kill(reason: unknown): void {
    this.#live = false
    for (const pipe of this.#pipes) pipe.kill(reason)
  }

  async #endPipes(end: StreamEnd): Promise<void> {
    for (const pipe of this.#pipes) await pipe.end(end)
    this.#passed.close()
  }

  async #drain(error: unknown): Promise<void> {
    try {
      for (const pipe of this.#pipes) await pipe.end({ error })
    } finally {
      this.#live = false
    }
  }

  #chain(): { entry: Pick<Sink, 'push'>; pipes: PipeLink[] } {
    return chainTransforms(this.layer, this.transforms, this.#exit)
  }

  /** Handles a chunk that has passed all transforms of the layer. */
  #leave(chunk: ContentChunk): void | Promise<void> {
    if (!this.#live) return
    this.#passed.add(chunk)
    if (!this.transforms.hold) return this.out.push(chunk)
    this.#held.push(chunk)
  }

  readonly #outward: Pick<Sink, 'push'> = {
    push: (chunk) => (this.#live ? this.out.push(chunk) : undefined),
  }
}

/** Text or reasoning without metadata. For such a chunk the comparison above detects a change in place. */
function isPlainText(chunk: ContentChunk): chunk is TextDelta {
  return (chunk.type === 'text-delta' || chunk.type === 'reasoning-delta') && chunk.providerMetadata === undefined
}

/** The error that ends the pipes of an answer that was restarted. */
const startedAgain = new Error('Another attempt of the model call has begun.')

/** Chains a layer's transforms in the order of registration. `end` receives the output of the last one. */
function chainTransforms(
  layer: string,
  { steps }: Transforms,
  end: Pick<Sink, 'push'>,
): { entry: Pick<Sink, 'push'>; pipes: PipeLink[] } {
  const pipes: PipeLink[] = []
  let entry = end
  for (const step of [...steps].reverse()) {
    if ('map' in step) entry = mapLink(layer, step.map, entry)
    else pipes.unshift((entry = new PipeLink(layer, step.pipe, entry)))
  }
  return { entry, pipes }
}

function mapLink(layer: string, map: OnChunk, out: Pick<Sink, 'push'>): Pick<Sink, 'push'> {
  return {
    push(chunk) {
      const mapped = map(chunk)
      if (mapped === undefined || mapped === chunk) return out.push(chunk)
      if (mapped === null) return
      if (!Array.isArray(mapped)) return out.push(checkChunk(mapped as ContentChunk, layer))
      for (const one of mapped) checkChunk(one, layer)
      return pushAll(out, mapped)
    },
  }
}

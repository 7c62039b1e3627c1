import { createHash } from 'node:crypto'
import { AlliumError } from '@allium/core'
import { type Cluster, Redis } from 'ioredis'
import { toStoreError } from './errors.ts'

/** An ioredis connection to a server or a cluster. */
export type RedisClient = Redis | Cluster

/** A script that Redis runs as one operation. */
export interface Script {
  readonly text: string
  readonly digest: string
}

export function script(text: string): Script {
  return { text, digest: createHash('sha1').update(text).digest('hex') }
}

/** Runs the commands of one client and converts failures to errors with a code. */
export class Client {
  readonly redis: RedisClient
  readonly #prefix: string
  readonly #isOwned: boolean
  #closed = false
  #isCorked = false

  /** @param connection a URL to open a connection, or an existing client, which close() leaves open */
  constructor(connection: string | RedisClient, prefix: string) {
    this.#isOwned = typeof connection === 'string'
    this.redis = typeof connection === 'string' ? createClient(connection) : connection
    this.#prefix = prefix
  }

  /**
   * Builds a key whose parts cannot be confused, whatever they contain. Keys with the same `slotParts` are in one slot of a cluster.
   *
   * @param slotParts the common parts of the keys that one script uses
   */
  key(slotParts: readonly string[], ...rest: readonly string[]): string {
    return [this.#prefix, `{${slotParts.map(encodeURIComponent).join(':')}}`, ...rest.map(encodeURIComponent)].join(':')
  }

  /** Yields all keys that begin with these parts and end with the suffix, from each server of a cluster. */
  async *scan(slotParts: readonly string[], suffix: string): AsyncGenerator<string> {
    const start = globEscaped(this.key(slotParts).slice(0, -1))
    const redis = this.#open()
    for (const node of 'nodes' in redis ? redis.nodes('master') : [redis]) {
      let cursor = '0'
      do {
        const [next, keys] = await this.command(() => node.scan(cursor, 'MATCH', `${start}:*}${suffix}`, 'COUNT', 1000))
        yield* keys
        cursor = next
      } while (cursor !== '0')
    }
  }

  async command<T>(operation: (redis: RedisClient) => Promise<T>): Promise<T> {
    const redis = this.#open()
    try {
      return await operation(redis)
    } catch (error) {
      throw toStoreError(error)
    }
  }

  /** Runs a script by its digest; sends the text if the server does not know it. */
  async runScript(
    { text, digest }: Script,
    keys: readonly string[],
    ...values: readonly (string | number)[]
  ): Promise<unknown> {
    const redis = this.#open()
    try {
      return await redis.evalsha(digest, keys.length, ...keys, ...values)
    } catch (error) {
      if (!String((error as Error).message).startsWith('NOSCRIPT')) throw toStoreError(error)
      return this.command(() => redis.eval(text, keys.length, ...keys, ...values))
    }
  }

  #open(): RedisClient {
    if (this.#closed) throw new AlliumError('store.unavailable', 'The store is closed. Open another one.')
    if (this.#isOwned && !this.#isCorked) this.#cork()
    return this.redis
  }

  /** Sends the commands of this tick in one write. Pipelines of ioredis do the same, for more work and memory per command. */
  #cork(): void {
    const { stream } = this.redis as Partial<Redis>
    if (stream === undefined) return
    this.#isCorked = true
    stream.cork()
    setImmediate(() => {
      this.#isCorked = false
      stream.uncork()
    })
  }

  close(): void {
    this.#closed = true
    if (this.#isOwned) this.redis.disconnect()
  }
}

function globEscaped(text: string): string {
  return text.replace(/[*?[\]\\^-]/g, '\\$&')
}

/** Connects with the first command. A server that hangs counts as unavailable. */
function createClient(url: string): Redis {
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 5000,
    commandTimeout: 10_000,
    maxRetriesPerRequest: 5,
    connectionName: 'allium',
  })
  // A lost connection fails its pending commands, which report the error.
  client.on('error', () => {})
  return client
}

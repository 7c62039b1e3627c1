import { createHash } from 'node:crypto'
import { AlliumError } from '@allium/core'
import { type Cluster, Redis } from 'ioredis'
import { toStoreError } from './errors.ts'

/** A connection of ioredis, or one to a cluster. */
export type RedisClient = Redis | Cluster

/** A script that Redis runs as one operation. */
export interface Script {
  readonly text: string
  readonly digest: string
}

export function script(text: string): Script {
  return { text, digest: createHash('sha1').update(text).digest('hex') }
}

/** Commands of one client; what fails has a code. */
export class Client {
  readonly redis: RedisClient
  readonly #prefix: string
  readonly #isOwned: boolean
  #closed = false

  /** @param connection a URL, for a connection of its own, or one that stays when this closes */
  constructor(connection: string | RedisClient, prefix: string) {
    this.#isOwned = typeof connection === 'string'
    this.redis = typeof connection === 'string' ? createClient(connection) : connection
    this.#prefix = prefix
  }

  /**
   * A key of which each part is kept apart from the next, whatever is in it. Keys of one place stand in one slot of a cluster.
   *
   * @param slotParts what keys have in common that one script takes
   */
  key(slotParts: readonly string[], ...rest: readonly string[]): string {
    return [this.#prefix, `{${slotParts.map(encodeURIComponent).join(':')}}`, ...rest.map(encodeURIComponent)].join(':')
  }

  /** All keys whose place begins with these parts and that end so, on each server of a cluster. */
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

  /** Sends the text of a script where the server does not know it yet. */
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
    return this.redis
  }

  close(): void {
    this.#closed = true
    if (this.#isOwned) this.redis.disconnect()
  }
}

function globEscaped(text: string): string {
  return text.replace(/[*?[\]\\^-]/g, '\\$&')
}

/** It connects with the first command. A server that hangs is as good as gone. */
function createClient(url: string): Redis {
  const client = new Redis(url, {
    lazyConnect: true,
    // What is asked at one moment goes out in one write.
    enableAutoPipelining: true,
    connectTimeout: 5000,
    commandTimeout: 10_000,
    maxRetriesPerRequest: 5,
    connectionName: 'allium',
  })
  // A connection that is lost fails the commands that wait for it; there it is told.
  client.on('error', () => {})
  return client
}

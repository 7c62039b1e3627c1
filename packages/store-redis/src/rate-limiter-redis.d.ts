declare module 'rate-limiter-flexible/lib/RateLimiterRedis.js' {
  import { RateLimiterRedis as Limiter } from 'rate-limiter-flexible'

  export default class RateLimiterRedis extends Limiter {
    /** Returns the Redis key of a count. */
    getKey(key: string): string
    /** Adds to a count, or sets it: https://github.com/animir/node-rate-limiter-flexible/blob/master/lib/RateLimiterRedis.js */
    _upsert(key: string, points: number, ms: number, isForced?: boolean): Promise<unknown>
  }
}

import type { AnyMiddleware } from '@allium/core'
import { from } from './from.ts'
import type { IMiddleware } from './lifecycle.ts'

type MiddlewareClass = new (...args: never[]) => IMiddleware

/** The class decorators. They work as TypeScript's standard decorators and as its older, experimental ones. */
export const decorator = {
  /**
   * Makes the instances of a class layers: `agent.use(new Audit())` works like `agent.use(hooks.from(new Audit()))`.
   * TypeScript accepts that for a class that declares `toMiddleware`, for example with `interface Audit extends ToMiddleware {}`.
   *
   * @example
   * @decorator.middleware()
   * class Audit implements IMiddleware {
   *   getName() { return 'audit' }
   * }
   */
  middleware() {
    return (target: MiddlewareClass, _context?: ClassDecoratorContext): void => {
      const prototype = target.prototype as object
      if ('toMiddleware' in prototype) return
      Object.defineProperty(prototype, 'toMiddleware', { value: toMiddleware, configurable: true, writable: true })
    }
  },
}

function toMiddleware(this: IMiddleware): AnyMiddleware {
  return from(this)
}

import { AlliumError } from '@allium/core'
import type { Hono } from 'hono'
import type { Limits } from '../host/host.ts'
import type { Problem } from '../http/problem.ts'
import type { Ctx, Env } from './caller.ts'
import { withErrorHandling } from './error-response.ts'
import { type RequestOf, type Route, readRequest } from './route.ts'

/** A route at the path under which it is served. */
export interface ServedRoute {
  readonly path: string
  readonly route: Route
}

/** Handles a route. `read` parses the request; the handler authenticates the caller before that. */
type Handler<R extends Route> = (c: Ctx, read: () => Promise<RequestOf<R>>) => Promise<Response | Problem>

/** Serves a route. */
export type Serve = <R extends Route>(route: R, handler: Handler<R>) => void

/** Adds all routes to the app, so that each has its schemas, and each path rejects the methods that it does not have. */
export class Router {
  readonly served: ServedRoute[]
  readonly #app: Hono<Env>
  readonly #limits: Limits

  /** @param served receives each route that is served */
  constructor(app: Hono<Env>, limits: Limits, served: ServedRoute[]) {
    this.#app = app
    this.#limits = limits
    this.served = served
  }

  /** Returns a function that serves routes under a path, such as `/agents/:agent`. */
  mount(prefix: string): Serve {
    return (route, handler) => {
      const path = `${prefix}${route.path}`
      this.served.push({ path, route })
      const { maxBodyBytes } = this.#limits
      this.#app.on(
        route.method.toUpperCase(),
        path,
        withErrorHandling(this.#limits)((c) => handler(c, () => readRequest(c, route, maxBodyBytes))),
      )
    }
  }

  /** Rejects the other methods of served paths. Call it once, after all routes. */
  rejectOtherMethods(): void {
    for (const path of new Set(this.served.map((served) => served.path))) {
      const allow = this.#methodsOf(path).join(', ')
      this.#app.all(path, (c) => {
        throw new AlliumError(
          'route.method_not_allowed',
          `The path ${path} does not support ${c.req.method}. It supports: ${allow}.`,
          { details: { allow } },
        )
      })
    }
  }

  #methodsOf(path: string): string[] {
    const methods = this.served.filter((served) => served.path === path).map(({ route }) => route.method.toUpperCase())
    return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  }
}

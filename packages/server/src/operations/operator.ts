import { AlliumError } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { Access, Seals } from '../host/host.ts'
import type { Operate } from '../options/options.ts'
import type { Serve } from '../request/router.ts'
import { runChangeRoutes, scheduleChangeRoutes } from './change-routes.ts'
import { schemas } from './openapi-schemas.ts'
import { operatingWith } from './operating.ts'
import type { ServedOperations } from './port.ts'
import { readRoutes } from './read-routes.ts'
import type { CanOperate } from './rights.ts'

export interface OperatorOptions {
  /** The result of `operations()` of `@allium/durable/operations`. */
  operations: ServedOperations
  /** Returns the rights of a principal, or nothing. A throw, or an invalid result, denies everything. */
  canOperate: CanOperate
}

const optionKeys: KeysOf<OperatorOptions> = { operations: true, canOperate: true }

/**
 * Lets chosen principals inspect and change the durable runs and schedules of all agents. Adds the routes under `/operations`. For all other
 * principals these routes do not exist (404).
 *
 * @throws AlliumError `server.options`
 * @example
 * server(agent, {
 *   principal,
 *   durable: durable(agent, { store }),
 *   operations: operator({
 *     operations: operations({ store }),
 *     canOperate: ({ role, tenantId }) => role === 'support' && { tenants: [tenantId], manage: true },
 *   }),
 * })
 */
export function operator(options: OperatorOptions): Operate {
  checkOptions(options ?? null, optionKeys, 'operator()', 'server.options')
  const { operations, canOperate } = options
  if (typeof canOperate !== 'function' || typeof operations?.within !== 'function')
    throw new AlliumError(
      'server.options',
      'operator() needs operations: operations({ store }), and canOperate: (principal) => …, which returns { tenants } or nothing.',
    )
  return {
    schemas,
    routes(serve: Serve, host: Access & Seals) {
      const operating = operatingWith(host, { operations, canOperate })
      readRoutes(serve, host, operating)
      runChangeRoutes(serve, operating)
      scheduleChangeRoutes(serve, operating)
    },
  }
}

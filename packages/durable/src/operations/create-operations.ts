import type { Operations } from './operations.ts'
import { checkOperationsOptions, type OperationsOptions } from './options.ts'
import { RunsOfTenants } from './runs-of-tenants.ts'

/**
 * Shows and moves durable runs of all agents and tenants. It works on the store alone: it needs no owner's principal, executes no step, and
 * only `migrate()` needs agents. Content is returned only by `export()`, which records each access in the audit.
 *
 * @throws AlliumError `options.invalid`
 * @example
 * const ops = operations({ store })
 * for (const { run, code } of (await ops.list({ status: 'failed' })).items) console.log(run, code)
 */
export function operations(options: OperationsOptions): Operations {
  checkOperationsOptions(options)
  return new RunsOfTenants(options, undefined)
}

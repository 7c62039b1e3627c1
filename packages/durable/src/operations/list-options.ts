import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { OperatedStatus, RunFilter } from '@allium/store'
import { invalid, maxText } from './bounds.ts'

export interface ListRunsOptions extends Omit<RunFilter, 'tenants'> {
  /** @default all tenants */
  readonly tenant?: string | undefined
  /** The `cursor` of the previous page. */
  readonly cursor?: string | undefined
  /** 1 to 1000. @default 50 */
  readonly limit?: number | undefined
}

const statuses: Readonly<Record<OperatedStatus, true>> = {
  queued: true,
  running: true,
  lost: true,
  completed: true,
  stopped: true,
  suspended: true,
  blocked: true,
  aborted: true,
  failed: true,
}

const listKeys: KeysOf<ListRunsOptions> = {
  tenant: true,
  status: true,
  agent: true,
  version: true,
  queue: true,
  owner: true,
  session: true,
  code: true,
  olderThan: true,
  cursor: true,
  limit: true,
}

/** @throws AlliumError `run.options` */
export function checkListOptions(options: ListRunsOptions): void {
  checkOptions(options, listKeys, 'list()', 'run.options')
  const { status, olderThan, limit, ...texts } = options
  if (status !== undefined && !Object.hasOwn(statuses, status))
    throw invalid('status', `one of ${Object.keys(statuses).join(', ')}`, status)
  if (olderThan !== undefined && !(olderThan >= 0)) throw invalid('olderThan', 'milliseconds from 0 on', olderThan)
  for (const [name, value] of Object.entries(texts))
    if (value !== undefined && !(typeof value === 'string' && value.length <= maxText))
      throw invalid(name, `a text of at most ${maxText} characters`, value)
}

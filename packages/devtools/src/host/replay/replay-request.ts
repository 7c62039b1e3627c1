import type { ReplayChange, ReplayRequest } from '../../replay-change.ts'
import { DevError } from '../dev-error.ts'
import { fieldsOf, oneOf } from '../evals/fields.ts'

const maxName = 1000

/** Checks the request of the page. @throws DevError */
export function replayRequest(given: unknown): ReplayRequest {
  const fields = fieldsOf(given)
  const at = (name: string) => textAt(fields[name], name)
  return {
    tenant: at('tenant'),
    owner: at('owner'),
    sessionId: at('sessionId'),
    turnId: at('turnId'),
    change: changeOf(fieldsOf(fields.change)),
  }
}

function changeOf({ kind, layer, name, to, of }: Readonly<Record<string, unknown>>): ReplayChange {
  if (kind === 'none') return { kind }
  if (kind === 'without') return { kind, layer: textAt(layer, 'layer') }
  if (kind === 'export') return { kind, name: textAt(name, 'name') }
  const place = oneOf(to, ['outside', 'inside'] as const)
  if (kind === 'move' && place !== undefined)
    return { kind, layer: textAt(layer, 'layer'), to: place, of: textAt(of, 'of') }
  throw new DevError(400, 'The change must have the kind "none", "without", "move" or "export".')
}

function textAt(value: unknown, field: string): string {
  if (typeof value === 'string' && value.length <= maxName) return value
  throw new DevError(400, `The field "${field}" must be a text of at most ${maxName} characters.`)
}

import { isRecord } from '@allium/core/internal'

/** The path of the first invalid field; undefined if there is none. */
export type Fault = string | undefined

type Check = (value: unknown, path: string) => Fault | boolean

/** Returns a check of an object with these fields. It may have others. */
export function fieldsOf(checks: Readonly<Record<string, Check>>): (value: unknown, path: string) => Fault {
  const entries = Object.entries(checks)
  return (value, path) => {
    if (!isRecord(value)) return path
    for (const [key, check] of entries) {
      const fault = faultOf(check, value[key], `${path}.${key}`)
      if (fault !== undefined) return fault
    }
    return undefined
  }
}

/** Returns a check of a list of such values. */
export function listOf(check: Check): (value: unknown, path: string) => Fault {
  return (value, path) => {
    if (!Array.isArray(value)) return path
    for (const [at, item] of value.entries()) {
      const fault = faultOf(check, item, `${path}[${at}]`)
      if (fault !== undefined) return fault
    }
    return undefined
  }
}

export function optional(check: Check): Check {
  return (value, path) => (value === undefined ? true : check(value, path))
}

export function isText(value: unknown): value is string {
  return typeof value === 'string'
}

export function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Whether a value has objects in objects, more than `levels` deep. */
export function isNested(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return false
  return levels === 0 || Object.values(value).some((inner) => isNested(inner, levels - 1))
}

function faultOf(check: Check, value: unknown, path: string): Fault {
  const fault = check(value, path)
  if (typeof fault === 'boolean') return fault ? undefined : path
  return fault
}

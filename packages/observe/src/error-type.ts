import { errorField } from './failure.ts'

/** Returns the safe description of an error: its code, or else its name. */
export function errorType(error: unknown): string {
  const [code, name] = [errorField(error, 'code'), errorField(error, 'name')]
  if (typeof code === 'string' && /^[\w.:-]{1,64}$/.test(code)) return code
  return typeof name === 'string' && /^\w{1,64}$/.test(name) ? name : 'Error'
}

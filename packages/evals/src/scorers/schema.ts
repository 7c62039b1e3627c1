import type { Scorer } from '../run/run.ts'

/** A Standard Schema, such as one of zod, valibot or arktype. */
export interface StandardSchema {
  readonly '~standard': {
    validate(value: unknown): Checked | Promise<Checked>
  }
}
type Checked = { readonly issues?: readonly { readonly message: string }[] | undefined }

/** Scores 1 if the answer fits a Standard Schema: the parsed output of the run, or the text as JSON. */
export function schema(shape: StandardSchema): Scorer {
  return async ({ output, text }) => {
    let value = output
    if (typeof output === 'string' || output === null) {
      try {
        value = JSON.parse(text)
      } catch {
        return { score: 0, reason: 'It is not JSON.' }
      }
    }
    const { issues } = await shape['~standard'].validate(value)
    return issues === undefined ? { score: 1 } : { score: 0, reason: issues.map(({ message }) => message).join('; ') }
  }
}

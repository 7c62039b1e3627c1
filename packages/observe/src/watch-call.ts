import { ignoreErrors } from './ignore-errors.ts'

/** Receives the outcome of a call. Its errors are ignored. */
export interface CallWatcher<Result> {
  onResult(result: Result): void
  onError(error: unknown): void
}

/** Runs a call and reports its outcome. */
export async function watchCall<Result>(
  next: () => Promise<Result>,
  { onResult, onError }: CallWatcher<Result>,
): Promise<Result> {
  try {
    const result = await next()
    ignoreErrors(() => onResult(result))
    return result
  } catch (error) {
    ignoreErrors(() => onError(error))
    throw error
  }
}

import type { Format } from '../format.ts'
import { chatFormats } from './chat-dialects.ts'

/** The wire formats, by the name that rows use. */
export const formats: readonly Format[] = [...chatFormats]

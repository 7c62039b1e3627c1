// Vitest rejects an import that is under way when a test file ends, such as that of a protocol by a server that was never asked.
// Its module would stay failed for all later files of the worker, because workers keep their modules (`isolate: false`).
import { afterAll, vi } from 'vitest'

afterAll(() => vi.dynamicImportSettled())

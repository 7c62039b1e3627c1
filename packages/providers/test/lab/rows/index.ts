import type { Row } from '../row.ts'
import { chatRows } from './chat.ts'
import { gatewayRows } from './gateways.ts'
import { nativeRows } from './native.ts'
import { responsesRows } from './responses.ts'

/**
 * Every model object of the lab. To add a package, write one row in this folder, add its versions to `packages/package.json`, and run
 * `npm install --package-lock-only --ignore-scripts --legacy-peer-deps` there.
 */
export const rows: readonly Row[] = [...responsesRows, ...nativeRows, ...chatRows, ...gatewayRows]

// What the agent imports when it is first needed. Tests in virtual time count ticks, and a first import takes more than those.
import '../../packages/core/src/later.ts'
import '../../packages/shared/src/json-schema.ts'
import '../../packages/providers/src/ai-sdk-stream.ts'
import '../../packages/providers/src/named-provider.ts'
import { orderRules } from '../../packages/allium/src/order-rules.ts'
import { setOrderRules } from '../../packages/core/src/internal.ts'

// What `allium` gives core when it is imported. Most tests of packs import core alone.
setOrderRules(orderRules)

// What the agent imports when it is first needed. Tests in virtual time count ticks, and a first import takes more than those.
import '../../packages/core/src/later.ts'
import '../../packages/shared/src/json-schema.ts'
import '../../packages/providers/src/ai-sdk-stream.ts'
import '../../packages/providers/src/named-provider.ts'
import { setOrderRules } from '../../packages/core/src/internal.ts'
import { orderRules } from '../../packages/shared/src/order.ts'

// What `allium` gives core when it is imported. Most tests of packs import core alone.
setOrderRules(orderRules)

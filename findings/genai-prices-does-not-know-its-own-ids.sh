#!/usr/bin/env bash
# @pydantic/genai-prices 0.1.8, on Node 20: calcPrice() finds no price for 57 of the ids that the package lists itself, among them all of
# Fireworks and pixtral-large of Mistral, because the id of a model is not among what its entry matches. A program that takes these ids for
# names of models has no cost for them, and no error. The ids of Anthropic are the control: each of them has a price.
# Seen on 2026-11-29. Output: a line per provider, as at the end. Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error @pydantic/genai-prices@0.1.8
cat > ids.mjs <<'JS'
import { calcPrice, findProvider } from '@pydantic/genai-prices'

for (const providerId of ['anthropic', 'openai', 'aws', 'mistral', 'fireworks']) {
  const ids = findProvider({ providerId }).models.map(({ id }) => id)
  const without = ids.filter((id) => !calcPrice({ input_tokens: 1000, output_tokens: 1000 }, id, { providerId }))
  console.log(`${providerId}: ${without.length} of ${ids.length}, such as ${without.at(-1) ?? 'none'}`)
}
JS
output=$(npx -y node@20.20.2 ids.mjs)
echo "$output"
[ "$output" = 'anthropic: 0 of 23, such as none
openai: 2 of 93, such as ft:gpt-4o-mini
aws: 19 of 93, such as regional.openai.gpt-5.6-terra
mistral: 4 of 43, such as pixtral-large
fireworks: 32 of 32, such as qwen3p7-plus' ]

#!/usr/bin/env bash
# sury 11.0.0: an optional field that the input does not have is a key of the parsed object, with the value undefined. zod 4 and valibot leave
# it out. So code that tells "not given" from "given" by `in`, by Object.keys() or by spreading over defaults gets another answer:
# { ...defaults, ...parsed } loses the default.
# Seen on 2026-11-30. Output: "name,age undefined". Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error sury@11.0.0
cat > optional.mjs <<'JS'
import * as S from 'sury'

const parsed = S.parseOrThrow({ name: 'Ada' }, S.schema({ name: S.string, age: S.optional(S.number) }))
console.log(Object.keys(parsed).join(), { age: 40, ...parsed }.age)
JS
output=$(npx -y node@20.20.2 optional.mjs)
echo "$output"
[ "$output" = 'name,age undefined' ]

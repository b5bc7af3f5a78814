/** What `@peculiar/x509` needs before it loads; see `lib/reflect.ts`. */

import '../lib/reflect.ts';

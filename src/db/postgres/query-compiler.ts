/** Writes the statements of the query builder for PostgreSQL. */

import { PostgresQueryCompiler, type PrimitiveValueListNode } from 'kysely';

export class QueryCompiler extends PostgresQueryCompiler {
  /** An empty list of `in`, which SQLite takes and PostgreSQL does not, is a list that holds nothing that could be equal. */
  protected override visitPrimitiveValueList(node: PrimitiveValueListNode): void {
    if (node.values.length > 0) super.visitPrimitiveValueList(node);
    else this.append('(null)');
  }
}

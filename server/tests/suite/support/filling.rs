use polymnemo_types::UserId;
use sea_orm::{ConnectionTrait as _, DatabaseConnection};

/// Gives one user this many copies of each passage of another one, each with a vector close to the original's. The index is made
/// again afterwards, which is quicker than adding to it row by row.
pub async fn fill_with_copies(admin: &DatabaseConnection, to: UserId, from: UserId, copies: u32) {
    let sql = format!(
        "
        set maintenance_work_mem = '512MB';
        create temporary table the_index as
            select indexname, indexdef from pg_indexes where indexname like 'vectors_hnsw_%';
        do $$ begin execute (select format('drop index %I', indexname) from the_index); end $$;
        insert into namespaces (user_id, name) values ('{to}', 'personal') on conflict do nothing;
        create temporary table target as select id from namespaces where user_id = '{to}' and name = 'personal';

        create temporary table copy as
            select c.id as old_chunk, gen_random_uuid() as memory, c.id + n * 1000000 as chunk, n
            from memories m join chunks c on c.memory_id = m.id, generate_series(1::bigint, {copies}) n
            where m.user_id = '{from}';
        insert into memories (id, user_id, namespace_id, kind, content, content_hash, occurred_at, created_at, updated_at)
            select copy.memory, '{to}', target.id, m.kind, m.content, sha256(copy.memory::text::bytea),
                m.occurred_at, m.created_at, m.updated_at
            from copy join chunks c on c.id = copy.old_chunk join memories m on m.id = c.memory_id, target;
        insert into chunks (id, memory_id, namespace_id, ordinal, start_byte, text, length) overriding system value
            select copy.chunk, copy.memory, target.id, c.ordinal, c.start_byte, c.text, c.length
            from copy join chunks c on c.id = copy.old_chunk, target;
        insert into vectors (chunk_id, model_id, memory_id, namespace_id, dimension, embedding)
            select copy.chunk, v.model_id, copy.memory, target.id, v.dimension,
                (select array_agg(x + (random() - 0.5) * 0.02 + 0 * copy.n)
                 from unnest(v.embedding::vector::real[]) x)::vector::halfvec
            from copy join vectors v on v.chunk_id = copy.old_chunk, target;
        insert into terms (namespace_id, term, document_count)
            select target.id, t.term, t.document_count * {copies}
            from terms t join namespaces n on n.id = t.namespace_id, target where n.user_id = '{from}';
        insert into postings (chunk_id, term_id, namespace_id, impact)
            select copy.chunk, other.id, target.id, p.impact
            from copy join postings p on p.chunk_id = copy.old_chunk
            join terms t on t.id = p.term_id, target
            join terms other on other.namespace_id = target.id
            where other.term = t.term;
        update namespaces set chunk_count = (select count(*) from copy) where id = (select id from target);
        do $$ begin execute (select indexdef from the_index); end $$;
        analyze;
        "
    );
    // One connection, since the tables in between are that connection's own.
    admin.execute_unprepared(&sql).await.unwrap();
}

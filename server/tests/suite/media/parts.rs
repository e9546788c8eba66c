use futures::StreamExt as _;
use polymnemo_memory::Error;
use polymnemo_types::{MemoryId, NewUpload, limits};
use reqwest::StatusCode;

use crate::media::world::{World, bytes, hex_digest, parts};

/// Announces a file in parts as a person does from the web app.
async fn announce(world: &World, sent: &[u8], sha256: Option<String>) -> MemoryId {
    let new = NewUpload {
        filename: "film.mp4".into(),
        content_type: "video/mp4".into(),
        size: Some(sent.len() as u64),
        description: "A film".into(),
        in_parts: true,
        sha256,
        ..Default::default()
    };
    let created = world.app.service().create_upload(&world.person("alice").await, new).await.unwrap();
    assert!(created.request.is_none() && created.curl.is_none());
    created.upload.id
}

async fn an_interrupted_upload_goes_on_where_it_was(world: &World) {
    let person = world.person("alice").await;
    let service = world.app.service();
    let sent = bytes(2 * limits::PART_BYTES as usize + 5);
    let pieces = parts(&sent);
    let id = announce(world, &sent, None).await;

    let begun = service.upload_parts(&person, id, &[3, 1]).await.unwrap();
    assert_eq!((begun.count, begun.part_bytes, begun.present.len()), (3, limits::PART_BYTES, 0));
    assert_eq!(
        begun.requests.iter().map(|part| (part.number, part.offset, part.size)).collect::<Vec<_>>(),
        [(3, 2 * limits::PART_BYTES, 5), (1, 0, limits::PART_BYTES),]
    );
    for part in &begun.requests {
        let piece = pieces[part.number as usize - 1];
        let shorter = world.send_signed(&part.request, vec![1; 4]).await;
        assert!(shorter.is_client_error(), "a part of another length");
        assert_eq!(world.send_signed(&part.request, piece.to_vec()).await, StatusCode::OK);
    }
    let early = service.confirm_upload(&person, id).await.unwrap_err().to_string();
    assert!(early.contains("parts of this file 2 have not arrived"), "{early}");

    // The browser comes back after a while and asks what is missing.
    let later = service.upload_parts(&person, id, &[]).await.unwrap();
    assert_eq!(later.present, [1, 3]);
    let second = service.upload_parts(&person, id, &[2]).await.unwrap().requests.remove(0);
    assert_eq!(world.send_signed(&second.request, pieces[1].to_vec()).await, StatusCode::OK);
    assert_eq!(world.send_signed(&second.request, pieces[1].to_vec()).await, StatusCode::OK, "again does no harm");
    let media = service.confirm_upload(&person, id).await.unwrap();
    assert_eq!((media.file.size, media.file.sha256), (sent.len() as u64, Some(hex_digest(&sent))));
    assert!(world.fetch(&world.app.mcp("alice"), &id.to_string()).await == sent);

    // What was put together can't be changed by what was signed before.
    assert!(world.refuses(&second.request, vec![0; pieces[1].len()]).await);
    assert!(world.fetch(&world.app.mcp("alice"), &id.to_string()).await == sent);
    assert_eq!(service.confirm_upload(&person, id).await.unwrap().memory.id, id);
    world.comes_to(1).await;
}

#[tokio::test]
async fn an_interrupted_upload_goes_on_where_it_was_in_the_directory() {
    an_interrupted_upload_goes_on_where_it_was(&World::local().await).await;
}

#[tokio::test]
async fn an_interrupted_upload_goes_on_where_it_was_in_s3() {
    an_interrupted_upload_goes_on_where_it_was(&World::s3().await).await;
}

async fn confirming_parts_at_once_makes_one_memory_and_the_digest_holds(world: &World) {
    let person = world.person("alice").await;
    let service = world.app.service();
    let sent = bytes(limits::PART_BYTES as usize + 1);
    let send_all = async |id: MemoryId| {
        for part in service.upload_parts(&person, id, &[1, 2]).await.unwrap().requests {
            let piece = parts(&sent)[part.number as usize - 1];
            assert_eq!(world.send_signed(&part.request, piece.to_vec()).await, StatusCode::OK);
        }
    };
    let id = announce(world, &sent, Some(hex_digest(&sent))).await;
    send_all(id).await;
    let confirming = (0..4).map(|_| service.confirm_upload(&person, id));
    // The server of the tests that speaks S3 shows fewer parts while it puts them together, so there one comes after the other.
    let at_once = if world.s3.is_some() { 1 } else { 4 };
    let confirmed: Vec<_> = futures::stream::iter(confirming).buffered(at_once).collect().await;
    for confirmed in confirmed {
        assert_eq!(confirmed.unwrap().memory.id, id);
    }

    let wrong = announce(world, &sent, Some(hex_digest(b"something else"))).await;
    send_all(wrong).await;
    let told = service.confirm_upload(&person, wrong).await.unwrap_err().to_string();
    assert!(told.contains("SHA-256"), "{told}");
    assert!(matches!(service.confirm_upload(&person, wrong).await, Err(Error::Missing(_))));
    world.comes_to(1).await;
}

#[tokio::test]
async fn confirming_parts_at_once_makes_one_memory_and_the_digest_holds_in_the_directory() {
    confirming_parts_at_once_makes_one_memory_and_the_digest_holds(&World::local().await).await;
}

#[tokio::test]
async fn confirming_parts_at_once_makes_one_memory_and_the_digest_holds_in_s3() {
    confirming_parts_at_once_makes_one_memory_and_the_digest_holds(&World::s3().await).await;
}

#[tokio::test]
async fn parts_are_asked_for_by_number_and_only_of_what_comes_in_parts() {
    let world = World::local().await;
    let person = world.person("alice").await;
    let service = world.app.service();
    let id = announce(&world, &bytes(10), None).await;
    for numbers in [vec![0], vec![2], vec![1; 101]] {
        assert!(matches!(service.upload_parts(&person, id, &numbers).await, Err(Error::Invalid(_))), "{numbers:?}");
    }
    assert!(matches!(service.upload_request(&person, id).await, Err(Error::Invalid(_))));
    service.cancel_upload(&person, id).await.unwrap();
    assert!(matches!(service.upload_parts(&person, id, &[1]).await, Err(Error::Missing(_))));

    let whole = world.announce(&world.app.mcp("alice"), "whole.bin", &bytes(10)).await;
    let id: MemoryId = whole["id"].as_str().unwrap().parse().unwrap();
    assert!(matches!(service.upload_parts(&person, id, &[1]).await, Err(Error::Invalid(_))));
    let again = service.upload_request(&person, id).await.unwrap();
    assert_eq!(world.send_signed(&again, bytes(10)).await, StatusCode::OK);
}

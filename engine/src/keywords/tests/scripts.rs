//! Every script: what a text says is found by its words, alone and first.

use super::*;

/// A script: its name, texts, and queries with the number of the text that each finds first, from 1.
type Script = (&'static str, &'static [&'static str], &'static [(&'static str, i64)]);

#[rustfmt::skip]
const SCRIPTS: [Script; 21] = [
    ("Latin", &["El café está cerrado los lunes", "Ngày mai đội họp lúc chín giờ", "Der Schlüssel liegt unter der Matte"],
        &[("cafe lunes", 1), ("doi hop", 2), ("SCHLÜSSEL", 3)]),
    ("Greek", &["Η βιβλιοθήκη κλείνει νωρίς", "Ο γάτος λέγεται Μίρο"], &[("ΒΙΒΛΙΟΘΗΚΗ", 1), ("γατος", 2)]),
    ("Cyrillic", &["Кота зовут Миро", "Деплой каждый вторник", "База копируется ещё раз ночью"],
        &[("миро", 1), ("деплои\u{306}", 2), ("еще раз", 3)]),
    ("Armenian", &["Գրադարանը փակ է կիրակի", "Կատվի անունը Միրո է"], &[("գրադարանը", 1), ("ԿԱՏՎԻ անունը", 2)]),
    ("Georgian", &["ბიბლიოთეკა დაკეტილია", "კატას მირო ჰქვია"], &[("ბიბლიოთეკა", 1), ("კატას", 2)]),
    ("Hebrew", &["הַסִּפְרִיָּה סגורה ביום ראשון", "לחתול קוראים מירו"], &[("הספריה", 1), ("חתול לחתול", 2)]),
    ("Arabic", &["المَدْرَسَة مغلقة يوم الأحد", "إسم القط ميرو", "الـــخـادم في المستشفى"],
        &[("المدرسه الاحد", 1), ("اسم القط", 2), ("الخادم", 3), ("المستشفي", 3)]),
    ("Persian", &["کتابخانه بسته است", "نام گربه میرو است"], &[("كتابخانه", 1), ("گربه ميرو", 2)]),
    ("Devanagari", &["बाज़ार सोमवार को बंद है", "बिल्ली का नाम मीरो है"], &[("बाजार", 1), ("बिल्ली", 2)]),
    ("Bengali", &["লাইব্রেরি রবিবার বন্ধ", "বিড়ালের নাম মিরো"], &[("রবিবার", 1), ("বিড়ালের নাম", 2)]),
    ("Tamil", &["நூலகம் மூடப்பட்டுள்ளது", "பூனையின் பெயர் மீரோ"], &[("நூலகம்", 1), ("பூனையின்", 2)]),
    ("Telugu", &["గ్రంథాలయం మూసివేయబడింది", "పిల్లి పేరు మీరో"], &[("గ్రంథాలయం", 1), ("పిల్లి", 2)]),
    ("Thai", &["ฉันอาศัยอยู่ในกรุงเทพมหานคร", "แมวของฉันชื่อมิโระชอบกินปลา", "ดื่มน้ำวันละแปดแก้ว"],
        &[("กรุงเทพ", 1), ("มิโระ", 2), ("ปลา", 2), ("น้ำ", 3)]),
    ("Lao", &["ຂ້ອຍອາໄສຢູ່ນະຄອນຫຼວງວຽງຈັນ", "ແມວຂອງຂ້ອຍຊື່ມິໂຣ"], &[("ວຽງຈັນ", 1), ("ແມວ", 2)]),
    ("Khmer", &["ខ្ញុំរស់នៅក្នុងទីក្រុងភ្នំពេញ", "ឆ្មារបស់ខ្ញុំឈ្មោះមីរ៉ូ"], &[("ភ្នំពេញ", 1), ("ឆ្មា", 2)]),
    ("Burmese", &["ကျွန်တော်ရန်ကုန်မြို့မှာနေပါတယ်", "ကျွန်တော့်ကြောင်နာမည်မီရိုပါ"], &[("ရန်ကုန်", 1), ("ကြောင်", 2)]),
    ("Tibetan", &["ང་ལྷ་ས་ལ་སྡོད་ཀྱི་ཡོད།", "ངའི་ཞི་མིའི་མིང་མི་རོ་ཡིན།"], &[("ལྷ་ས", 1), ("ཞི་མིའི", 2)]),
    ("Javanese", &["ꦲꦏꦸꦲꦺꦴꦩꦃꦲꦶꦁꦱꦭ", "ꦏꦸꦕꦶꦁꦏꦸꦗꦼꦤꦺꦁꦩꦶꦫꦺꦴ"], &[("ꦲꦺꦴꦩꦃ", 1), ("ꦏꦸꦕꦶꦁ", 2)]),
    ("Han", &["我住在北京市朝阳区", "猫的名字叫米洛"], &[("北京", 1), ("猫", 2)]),
    ("Kana", &["東京都に住んでいます", "猫の名前はミロです"], &[("ﾐﾛ", 2), ("東京", 1)]),
    ("Hangul", &["서울에서 살고 있어요", "고양이 이름은 미로예요"], &[("서울", 1), ("\u{1106}\u{1175}\u{1105}\u{1169}", 2)]),
];

#[test]
fn a_query_ranks_its_text_first_in_every_script() {
    let texts: Vec<&str> = SCRIPTS.iter().flat_map(|(_, texts, _)| texts.iter().copied()).collect();
    let mut before = 0;
    for (script, own, queries) in SCRIPTS {
        for (query, at) in queries {
            assert_eq!(found_among(&texts, query).first(), Some(&(before + at)), "{script}: {query}");
        }
        before += own.len() as i64;
    }
}

#[test]
fn no_mark_is_a_term_and_none_is_cut_from_its_letter() {
    for (script, texts, _) in SCRIPTS {
        for text in texts {
            for word in words_of(text, Singles::All) {
                assert!(!word.starts_with(unicode_normalization::char::is_combining_mark), "{script}: {word:?}");
            }
        }
    }
    assert_eq!(words_of("กรุงเทพ", Singles::Lone), ["กรุ", "รุง", "งเท", "เทพ"]);
    assert_eq!(words_of("ภาษาไทย ok", Singles::Lone), ["ภาษา", "ษาไท", "ไทย", "ok"]);
    assert_eq!(words_of("བོད་སྐད་ཡིག", Singles::All), ["བོད", "བོད་སྐད", "སྐད", "སྐད་ཡིག", "ཡིག"]);
}

#[test]
fn spellings_that_readers_equate_are_normalized_alike() {
    for (one, other) in [
        ("Ещё", "еще"),
        ("й", "и\u{306}"),
        ("за\u{301}мок", "замок"),
        ("أحمد إلى آخر", "احمد الي اخر"),
        ("مُؤَسَّسَة", "موسسه"),
        ("شاطئ", "شاطي"),
        ("ســـلام", "سلام"),
        ("کیف", "كيف"),
        ("שָׁלוֹם", "שלום"),
        ("फ़िल्म", "फिल्म"),
        ("ऩ", "न"),
        ("क्\u{200d}ष", "क्ष"),
        ("ＡＢＣ１２３", "abc123"),
        ("ｶﾞ", "ガ"),
        ("Dampf\u{ad}schiff", "dampfschiff"),
        ("٣٤ ۵ ๖", "34 5 6"),
        ("❤\u{fe0f}", "❤"),
        ("👍🏽", "👍"),
        ("1\u{fe0f}\u{20e3}", "1"),
        ("Đặng", "dang"),
    ] {
        assert_eq!(normalise(one), normalise(other), "{one} {other}");
    }
    for (one, other) in [("й", "и"), ("が", "か"), ("ى", "ا"), ("कि", "क"), ("กา", "ก")] {
        assert_ne!(normalise(one), normalise(other), "{one} {other}");
    }
}

#[test]
fn symbols_are_terms_and_emoji_match_by_their_components() {
    let contents = [
        "The rocket 🚀 is ready",
        "Ship it 👍🏽 today",
        "Our astronaut 👩🏾\u{200d}🚀 is called Ada",
        "The price is 50 €",
        "Flight 🇩🇪→🇫🇷 is booked",
        "no symbol at all, only | pipes + and ─ lines",
    ];
    for (query, found) in [
        ("🚀", &[1][..]),
        ("👍", &[2]),
        ("👍🏿", &[2]),
        ("👩\u{200d}🚀", &[3]),
        ("👩", &[3]),
        ("€", &[4]),
        ("🇩🇪", &[5]),
        ("🇫🇷", &[5]),
        ("→", &[5]),
        ("🎉", &[]),
        ("─ | +", &[]),
    ] {
        assert_eq!(found_among(&contents, query), found, "{query}");
    }
    assert_eq!(words_of("🚀🎉 a👩\u{200d}🚀", Singles::Lone), ["🚀", "🎉", "a", "👩\u{200d}🚀", "👩"]);
    assert!(super::super::significant_words("🚀 👩\u{200d}🚀 →").is_empty(), "a symbol is no word");
}

#[test]
fn the_parts_of_a_name_are_terms_beside_the_whole() {
    let contents = [
        "call getUserById before the cache is filled",
        "call user_by_id before the queue is filled",
        "call user-by-id before the table is filled",
        "The HTTPServer of our GitHub mirror, APIs and iPhones",
        "the key is aGVsbG8gd29ybGQgZm9yIGV2ZXI0 in full",
    ];
    let mut by_words = found_among(&contents, "user by id");
    by_words.sort_unstable();
    assert_eq!(by_words, [1, 2, 3]);
    for (query, found) in [
        ("getUserById", &[1, 2, 3][..1]),
        ("GETUSERBYID", &[1]),
        ("user_by_id", &[2]),
        ("server", &[4]),
        ("http", &[4]),
        ("github", &[4]),
        ("is", &[]),
        ("gsb", &[]),
    ] {
        let all = found_among(&contents, query);
        assert!(all.starts_with(found) && (query != "gsb" || all.is_empty()), "{query}: {all:?}");
    }
    // Where no record has the name as it is written, its parts stand for it.
    let mut parts = found_among(&contents[1..], "findUserId");
    parts.sort_unstable();
    assert_eq!(parts, [1, 2]);
}

/// The parts of names make no text longer, so that prose ranks as before.
#[test]
fn parts_of_names_change_no_length() {
    let folder = tempfile::tempdir().unwrap();
    let index = index_of(folder.path(), &records(&["the harbour getUserById", "the harbour getuserbyid"]));
    let scores: Vec<f32> =
        search(index.snapshot().unwrap().as_ref(), "harbour", 9, None).into_iter().map(|(_, score)| score).collect();
    assert_eq!(scores.len(), 2);
    assert_eq!(scores[0], scores[1]);
}

fn within(contents: &[&str], query: &str) -> Vec<i64> {
    let folder = tempfile::tempdir().unwrap();
    let all = records(contents);
    let (applied, tail) = all.split_at(all.len() / 2);
    let index = index_of(folder.path(), applied);
    let (snapshot, tail) = (index.snapshot().unwrap(), tail_of(tail));
    let query = KeywordQuery::new(query).within_words();
    let found = snapshot.search(&query, 9, &Filter::default(), &RoaringTreemap::new(), Some(&tail)).unwrap();
    found.into_iter().map(|(id, _)| id.get()).collect()
}

/// Q12, beside what words find: each word by itself.
#[test]
fn a_word_that_no_record_has_is_found_within_others() {
    let contents = [
        "The penguin lives on the ice",
        "Supercalifragilisticexpialidocious was sung",
        "They say that the person is a carpenter",
        "An emperor penguin and its egg",
    ];
    let sorted = |query: &str| {
        let mut found = within(&contents, query);
        found.sort_unstable();
        found
    };
    assert_eq!(sorted("engui zzz"), [1, 4], "in the index and in the tail");
    assert_eq!(sorted("engui"), [1, 4]);
    assert_eq!(sorted("califragil"), [2], "a long part of a long word");
    assert_eq!(sorted("son"), [3], "where nothing else is known");
    assert_eq!(sorted("what did zorblat say"), [3], "the word itself, and no part");
    assert_eq!(sorted("ice for my son"), [1], "a short part beside a word that is known says nothing");
    assert_eq!(sorted("ice for my engui"), [1, 4]);
    assert_eq!(sorted("en"), [] as [i64; 0], "two letters are in everything");
    assert_eq!(within(&contents, "engui ice")[0], 1);
    assert_eq!(found_among(&contents, "engui"), [] as [i64; 0], "only if the query says so");
}

#[test]
fn a_partial_word_scores_less_and_is_no_exact_match() {
    let folder = tempfile::tempdir().unwrap();
    let index = index_of(folder.path(), &records(&["a penguin", "a boiler", "a crane"]));
    let snapshot = index.snapshot().unwrap();
    let judged = |text: &str| {
        let query = KeywordQuery::new(text).within_words();
        snapshot.matches(&query, &[1.into()], None).unwrap().remove(0).expect("it is there")
    };
    let (whole, part, both) = (judged("penguin"), judged("engui"), judged("penguin engui"));
    assert!((part.score / whole.score - 0.6).abs() < 1e-6 && (part.share - 0.6).abs() < 1e-6, "{part:?}");
    assert!(part.is_by_parts && !part.is_singled_out && part.rarest == 0.0, "{part:?}");
    assert!(!whole.is_by_parts && !both.is_by_parts && whole.is_singled_out);
    let zzz = judged("engui zzz");
    assert!(zzz.share < part.share && zzz.is_by_parts, "{zzz:?}");
}
